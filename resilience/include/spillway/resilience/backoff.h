// Exponential back-off with full jitter: pure functions, and a small counter for loops that run for ever.
// Formula: AWS Architecture Blog, "Exponential Backoff And Jitter" (full jitter).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class Jitter : std::uint8_t { kFull, kNone };

struct BackoffSettings {
  Duration base = std::chrono::milliseconds(100);  // 1 ns .. cap
  double factor = 2.0;                             // 1 .. 100
  Duration cap = std::chrono::seconds(30);         // base .. 10 years
  Jitter jitter = Jitter::kFull;

  std::optional<SettingError> first_error() const;
};

// min(cap, base * factor^(retry-1)) for the retry-th retry (1 is the first), saturating for any `retry`.
Duration backoff_ceiling(const BackoffSettings& settings, std::uint32_t retry) noexcept;

// floor(u * ceiling), or the ceiling itself without jitter. `u` in [0, 1).
Duration backoff_delay(const BackoffSettings& settings, std::uint32_t retry, double u) noexcept;

// Counts the retries of one loop. One thread. `Uniform` is any callable that returns a number in [0, 1).
class Backoff {
 public:
  // Throws InvalidSetting.
  explicit Backoff(BackoffSettings settings) : settings_(checked(settings)) {}

  // The delay before the next try; every call lengthens the following one.
  template <typename Uniform>
  Duration next(Uniform&& uniform) {
    if (retries_ != UINT32_MAX) ++retries_;
    return backoff_delay(settings_, retries_, uniform());
  }

  // Call on success: the next failure starts at the base again.
  void reset() noexcept { retries_ = 0; }

  // Retries since the last success.
  std::uint32_t retries() const noexcept { return retries_; }

 private:
  BackoffSettings settings_;
  std::uint32_t retries_ = 0;
};

}  // namespace spillway::resilience
