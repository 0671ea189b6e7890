// Takes endpoints that keep failing out of the choice for a while, never too many at once, and lets them back slowly.
// Rules and defaults after Envoy's outlier detection (consecutive errors).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "spillway/resilience/event.h"
#include "spillway/resilience/outcome.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct EjectionSettings {
  std::uint32_t endpoints = 1;                      // 1 .. 100,000
  std::uint32_t consecutive_failures = 5;           // that eject; 1 .. 1,000,000
  Duration base_time = std::chrono::seconds(30);    // the n-th ejection in a row lasts n times this; 1 ns .. longest
  Duration longest_time = std::chrono::minutes(5);  // base_time .. 10 years
  std::uint32_t most_ejected_percent = 10;          // of the endpoints, rounded down, but one at least; 1 .. 100
  Duration readmission = std::chrono::seconds(10);  // over which a returned endpoint's weight grows to 1; 0 .. 10 years

  std::optional<SettingError> first_error() const;
};

// Any thread; one short lock. Never ejects the last endpoint. Endpoints are numbers below `endpoints`. A longest_time
// without a failure takes one step back in the length of ejections.
class OutlierEjection {
 public:
  // Throws InvalidSetting. `events` may be null and must outlive this.
  explicit OutlierEjection(EjectionSettings settings, EventQueue* events = nullptr);

  void record(std::uint32_t endpoint, Outcome outcome, Instant now);

  bool ejected(std::uint32_t endpoint, Instant now);
  // 0 while ejected, growing from 0.1 to 1 over `readmission` after the return, else 1.
  double weight(std::uint32_t endpoint, Instant now);
  // An endpoint drawn by weight; `u` in [0, 1).
  std::uint32_t pick(double u, Instant now);
  std::uint32_t ejected_count(Instant now);

 private:
  struct Endpoint {
    std::uint32_t failures_in_a_row = 0;
    std::uint32_t ejections = 0;
    bool out = false;
    Instant until{};    // while out
    Instant changed{};  // the return, or the last failure: what the next step back counts from
    std::optional<Instant> returned{};
  };
  // With mutex_ held:
  void bring_back(Instant now);
  bool may_eject() const noexcept;
  void eject(std::uint32_t endpoint, Instant now);
  double weight_of(const Endpoint& endpoint, Instant now) const noexcept;
  void tell(EventKind kind, std::uint32_t endpoint, Instant now) noexcept;

  const EjectionSettings settings_;
  EventQueue* const events_;
  std::mutex mutex_;
  std::vector<Endpoint> endpoints_;
  std::uint32_t out_ = 0;
};

}  // namespace spillway::resilience
