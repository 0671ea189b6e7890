// When the backlog will be gone: backlog / (drain - arrival), with the range that the last five minutes suggest.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::status {

struct Eta {
  enum class Kind : std::uint8_t { kUnknown, kNever, kKnown };

  Kind kind = Kind::kUnknown;
  std::optional<double> seconds{};  // kKnown
  std::optional<double> low{};
  std::optional<double> high{};  // empty beside a low one: perhaps never
  std::string reason{};

  bool operator==(const Eta&) const = default;
};

// Net rates, drain - arrival in events/s, between which the last five minutes lay.
struct NetRange {
  double low = 0;
  double high = 0;

  bool operator==(const NetRange&) const = default;
};

class NetSpread {
 public:
  static constexpr base::Duration kWindow = std::chrono::minutes(5);
  static constexpr base::Duration kSpacing = std::chrono::seconds(5);

  void observe(base::Instant now, double net_per_second);
  // The 10th and the 90th percentile; empty until there are three samples, so for the first ten seconds.
  std::optional<NetRange> range(base::Instant now) const;

 private:
  struct Sample {
    base::Instant at;
    double net;
  };
  std::deque<Sample> samples_;
};

struct EtaInputs {
  std::optional<std::int64_t> backlog{};
  std::optional<double> drain{};    // events/s
  std::optional<double> arrival{};  // events/s
  std::optional<NetRange> spread{};
};

Eta estimate_eta(const EtaInputs& in);

}  // namespace spillway::status
