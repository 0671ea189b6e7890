// How one finished attempt counts.
#pragma once

#include <cstdint>
#include <optional>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class Outcome : std::uint8_t {
  kSuccess,
  kFailure,
  kIgnored,  // finished, but says nothing about the dependency (say, the caller's own mistake)
};

// What a caller knows about an error, as a retry and a breaker need it.
struct Judgement {
  Outcome outcome = Outcome::kFailure;
  bool retryable = true;    // trying the same thing again can help
  bool never_sent = false;  // the request provably never reached the other side: safe to repeat, idempotent or not
  std::optional<Duration> retry_after{};  // what the other side asked for
};

}  // namespace spillway::resilience
