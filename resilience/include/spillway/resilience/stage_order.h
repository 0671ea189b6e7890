// Which orders of stages make sense. Stages are listed from the outermost to the innermost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace spillway::resilience {

enum class StageKind : std::uint8_t {
  kStats,
  kGate,
  kJudge,
  kFallback,
  kTotalDeadline,
  kShedder,
  kRetry,
  kBreaker,
  kRateLimit,
  kLimiter,
  kBulkhead,
  kAttemptTimeout,
};

namespace detail {

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

template <std::size_t N>
constexpr std::size_t place_of(const std::array<StageKind, N>& order, StageKind kind) {
  for (std::size_t i = 0; i < N; ++i) {
    if (order[i] == kind) return i;
  }
  return kNowhere;
}

// `a` stands further out than `b`; false if one is missing.
template <std::size_t N>
constexpr bool outside(const std::array<StageKind, N>& order, StageKind a, StageKind b) {
  const std::size_t at = place_of(order, a), bt = place_of(order, b);
  return at != kNowhere && bt != kNowhere && at < bt;
}

template <std::size_t N>
constexpr std::size_t times(const std::array<StageKind, N>& order, StageKind kind) {
  std::size_t n = 0;
  for (const StageKind k : order) n += k == kind;
  return n;
}

// Without a retry there is one attempt; then the leading stages that are not about a single attempt form the outer
// part.
template <std::size_t N>
constexpr std::size_t leading_call_stages(const std::array<StageKind, N>& order) {
  std::size_t n = 0;
  while (n < N && order[n] <= StageKind::kShedder) ++n;
  return n;
}

}  // namespace detail

// Empty, or what makes the order meaningless. Known at compile time; a pipeline with such an order does not compile.
template <std::size_t N>
constexpr std::string_view order_error(const std::array<StageKind, N>& order) {
  using enum StageKind;
  for (const StageKind once : {kStats, kJudge, kFallback, kTotalDeadline, kRetry, kAttemptTimeout}) {
    if (detail::times(order, once) > 1) return "a stage of this kind may stand in a pipeline once";
  }
  for (const StageKind inner :
       {kTotalDeadline, kShedder, kRetry, kBreaker, kRateLimit, kLimiter, kBulkhead, kAttemptTimeout}) {
    if (detail::outside(order, inner, kFallback)) return "a fallback inside another policy hides its failures";
  }
  if (detail::outside(order, kRetry, kTotalDeadline))
    return "a total deadline inside the retry bounds one attempt only";
  if (detail::outside(order, kAttemptTimeout, kRetry))
    return "an attempt timeout outside the retry bounds all attempts";
  return {};
}

// What is allowed, but rarely meant.
template <std::size_t N>
std::vector<std::string_view> order_warnings(const std::array<StageKind, N>& order) {
  using enum StageKind;
  std::vector<std::string_view> warnings;
  const auto warn = [&](StageKind a, StageKind b, std::string_view text) {
    if (detail::outside(order, a, b)) warnings.push_back(text);
  };
  warn(kBreaker, kRetry, "retry inside the breaker: the breaker sees one outcome for all attempts of a call");
  warn(kBulkhead, kRetry, "retry inside the bulkhead: a slot is held while the retry sleeps");
  warn(kLimiter, kRetry, "retry inside the adaptive limit: its sleeps count as latency");
  warn(kRateLimit, kRetry, "retry inside the rate limit: repeated attempts are not limited");
  warn(kAttemptTimeout, kBulkhead,
       "bulkhead inside the attempt timeout: waiting for a slot uses up the attempt's time");
  warn(kAttemptTimeout, kRateLimit, "rate limit inside the attempt timeout: waiting for a turn uses up its time");
  return warnings;
}

}  // namespace spillway::resilience
