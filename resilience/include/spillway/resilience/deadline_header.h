// Carries a deadline across processes as the time that is left: relative milliseconds, so clocks need not agree.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spillway/resilience/deadline.h"
#include "spillway/resilience/setting_error.h"

namespace spillway::resilience {

inline constexpr std::string_view kDeadlineHeader = "X-Request-Deadline-Ms";

// A decimal number in a buffer of its own; no allocation.
class DeadlineText {
 public:
  std::string_view view() const noexcept { return {digits_.data(), size_}; }

 private:
  friend std::optional<DeadlineText> deadline_to_header(Deadline deadline, Instant now) noexcept;
  std::array<char, 20> digits_{};
  std::size_t size_ = 0;
};

// The header's value for a call made at `now`: whole milliseconds, rounded down, so the receiver never believes in
// more time than there is. Empty for no deadline: send no header then.
std::optional<DeadlineText> deadline_to_header(Deadline deadline, Instant now) noexcept;

// Reads headers of incoming requests. Any thread.
class DeadlineReader {
 public:
  // Throws InvalidSetting. `longest`, 1 ms .. 10 years: what a larger value is held at.
  explicit DeadlineReader(Duration longest = std::chrono::hours(1));

  // `header` is empty when the request has none. ASCII digits only; everything else is malformed, counts, and reads as
  // no deadline. "0" is a deadline that has expired.
  Deadline read(std::optional<std::string_view> header, Instant now) noexcept;

  std::uint64_t malformed() const noexcept { return malformed_.load(std::memory_order_relaxed); }

 private:
  Duration longest_;
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace spillway::resilience
