module peers

go 1.24

require github.com/failsafe-go/failsafe-go v0.9.8

require github.com/bits-and-blooms/bitset v1.24.4 // indirect
