// A person's limit on the governor as the store keeps it: for every relay of the outbox, until it ends by itself.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace spillway::ports {

constexpr std::chrono::milliseconds kDefaultOverride = std::chrono::minutes(15);
constexpr std::chrono::milliseconds kLongestOverride = std::chrono::hours(24);

struct Override {
  // Events/s, live and backlog together. Empty = hold: nothing above what is sent when a relay first sees it; that
  // relay fixes the number.
  std::optional<double> max_total{};
  std::string reason{};
  std::string who{};
  std::int64_t since_unix_micros = 0;     // tells one override from the next
  std::chrono::milliseconds remaining{};  // by the database's clock, above 0

  bool operator==(const Override&) const = default;
};

struct OverrideRequest {
  std::optional<double> max_total{};
  std::chrono::milliseconds lasts = kDefaultOverride;
  std::string reason{};
  std::string who{};
};

// kRejected where the rate is no number of events/s, the reason is empty, or the time is not within (0, 24 h].
inline base::Status check(const OverrideRequest& request) {
  const auto wrong = [](const char* sentence) { return base::fail(base::ErrorClass::kRejected, sentence); };
  if (request.max_total && (!std::isfinite(*request.max_total) || *request.max_total < 0)) {
    return wrong("an override needs a rate of 0 or more events/s");
  }
  if (request.lasts <= std::chrono::milliseconds::zero()) {
    return wrong("an override needs a time above 0, such as 30m");
  }
  if (request.lasts > kLongestOverride) {
    return wrong("an override lasts 24h at most: set governor.max for what is to stay");
  }
  if (request.reason.empty()) return wrong("an override needs a reason: it is shown in every status");
  return {};
}

}  // namespace spillway::ports
