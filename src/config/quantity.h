// Numbers with units, as people write them. Strict: nothing is guessed, and a misreading says what to write instead.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/time.h"
#include "config/values.h"

namespace spillway::config {

// Why a text is not the value it should be.
struct Misread {
  std::string problem = {};   // a clause: "has no unit"
  std::string expected = {};  // a noun phrase; may be empty
  std::string remedy = {};    // may be empty
  std::string nearest = {};   // may be empty
  bool out_of_range = false;
};

template <typename T>
using Read = std::expected<T, Misread>;

Read<base::Duration> parse_duration(std::string_view text);  // 2us, 250ms, 5s, 30m, 24h, 7d
Read<Bytes> parse_bytes(std::string_view text);              // 512B, 64KiB, 16MiB, 1GiB
Read<Ratio> parse_ratio(std::string_view text);              // 2%, 0.5%
Read<double> parse_number(std::string_view text);            // 50, 0.5
Read<std::int64_t> parse_count(std::string_view text);       // 20000
Read<bool> parse_bool(std::string_view text);                // true, false
Read<ListenAddress> parse_listen(std::string_view text);     // 127.0.0.1:8787, [::1]:8787

// The shortest text that reads back to the same value.
std::string format_duration(base::Duration value);
std::string format_bytes(Bytes value);
std::string format_ratio(Ratio value);
std::string format_number(double value);
std::string format_listen(const ListenAddress& address);

}  // namespace spillway::config
