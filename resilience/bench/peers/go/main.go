// The four measured paths in failsafe-go. Prints "name best median" in nanoseconds.
package main

import (
	"fmt"
	"sort"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/fallback"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
)

func measure(name string, n int, body func()) {
	const repetitions = 201
	results := make([]float64, 0, repetitions)
	for r := 0; r <= repetitions; r++ {
		start := time.Now()
		for i := 0; i < n; i++ {
			body()
		}
		if r > 0 { // the first one warms up
			results = append(results, float64(time.Since(start).Nanoseconds())/float64(n))
		}
	}
	sort.Float64s(results)
	fmt.Printf("%s %.1f %.1f\n", name, results[0], results[repetitions/2])
}

func breaker() circuitbreaker.CircuitBreaker[int] {
	return circuitbreaker.NewBuilder[int]().WithFailureThresholdRatio(50, 100).WithDelay(time.Hour).Build()
}

func main() {
	closed := breaker()
	measure("breaker", 20_000, func() {
		if closed.TryAcquirePermit() {
			closed.RecordSuccess()
		}
	})

	open := breaker()
	open.Open()
	measure("refusal", 20_000, func() { open.TryAcquirePermit() })

	slots := bulkhead.New[int](100)
	measure("bulkhead", 20_000, func() {
		if slots.TryAcquirePermit() {
			slots.ReleasePermit()
		}
	})

	executor := failsafe.With[int](
		fallback.NewWithResult(0),
		retrypolicy.NewWithDefaults[int](),
		breaker(),
		ratelimiter.NewBursty[int](1_000_000_000, time.Second),
		bulkhead.New[int](100),
		timeout.New[int](500*time.Millisecond))
	measure("pipeline", 500, func() {
		executor.Get(func() (int, error) { return 7, nil })
	})
}
