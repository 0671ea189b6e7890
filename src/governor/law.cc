#include "governor/law.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "governor/adaptive.h"
#include "governor/aimd.h"
#include "governor/constant_laws.h"
#include "governor/gradient.h"

namespace spillway::governor {

namespace {

constexpr std::array kLaws = {std::pair{LawKind::kAdaptive, "adaptive"}, std::pair{LawKind::kAimd, "aimd"},
                              std::pair{LawKind::kGradient, "gradient"}, std::pair{LawKind::kFixed, "fixed"},
                              std::pair{LawKind::kUnlimited, "unlimited"}};

class Faults {
 public:
  void unless(bool fine, std::string sentence) {
    if (fine) return;
    if (!all_.empty()) all_ += '\n';
    all_ += sentence;
  }
  base::Status result() const {
    if (all_.empty()) return {};
    return base::fail(base::ErrorClass::kMisconfigured, all_);
  }

 private:
  std::string all_;
};

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check_signal(const SignalSpec& s, Faults& faults) {
  faults.unless(!s.name.empty(), "a signal has no name.");
  faults.unless(positive(s.latency_ceiling_s),
                fmt::format("signal {}: latency_ceiling must be above 0, it is {} s.", s.name, s.latency_ceiling_s));
  faults.unless(positive(s.error_ceiling) && s.error_ceiling <= 1,
                fmt::format("signal {}: error_ceiling must be above 0 and at most 100 %, it is {} %.", s.name,
                            s.error_ceiling * 100));
  faults.unless(std::isfinite(s.dead_time_s) && s.dead_time_s >= 1,
                fmt::format("signal {}: dead_time must be at least 1 s, it is {} s.", s.name, s.dead_time_s));
  faults.unless(positive(s.every_s), fmt::format("signal {}: every must be above 0, it is {} s.", s.name, s.every_s));
  faults.unless(
      std::isfinite(s.tolerance) && s.tolerance >= 0 && s.tolerance < 1,
      fmt::format("signal {}: tolerance must be at least 0 and below 100 %, it is {} %.", s.name, s.tolerance * 100));
  faults.unless(std::isfinite(s.lag_ceiling_s) && s.lag_ceiling_s >= 0,
                fmt::format("signal {}: ceiling must be above 0, it is {} s.", s.name, s.lag_ceiling_s));
}

}  // namespace

const char* to_string(LawKind kind) {
  for (const auto& [law, name] : kLaws) {
    if (law == kind) return name;
  }
  return "unknown";
}

base::Result<LawKind> parse_law(std::string_view name) {
  for (const auto& [law, known] : kLaws) {
    if (name == known) return law;
  }
  return base::fail(
      base::ErrorClass::kMisconfigured,
      fmt::format("'{}' is not a governor law; the laws are adaptive, aimd, gradient, fixed and unlimited.", name));
}

base::Status check(const GovernorSpec& spec) {
  Faults faults;
  faults.unless(positive(spec.min), fmt::format("governor.min must be above 0, it is {}.", spec.min));
  faults.unless(!spec.max || positive(*spec.max), "governor.max must be above 0, or none.");
  faults.unless(!spec.max || spec.min <= *spec.max,
                fmt::format("governor.min {} is above governor.max {}.", spec.min, spec.max.value_or(0)));
  faults.unless(std::isfinite(spec.backlog_min) && spec.backlog_min >= 0, "governor.backlog_min must not be negative.");
  faults.unless(positive(spec.aimd_increase), "governor.aimd.increase must be above 0.");
  faults.unless(positive(spec.aimd_decrease) && spec.aimd_decrease < 1,
                "governor.aimd.decrease must be above 0 and below 1.");
  faults.unless(!(spec.law == LawKind::kFixed || spec.observe) || positive(spec.fixed_rate),
                "a fixed rate must be above 0.");
  for (const SignalSpec& signal : spec.signals) check_signal(signal, faults);
  return faults.result();
}

std::unique_ptr<Law> make_law(const GovernorSpec& spec) {
  if (spec.law == LawKind::kFixed) return std::make_unique<FixedLaw>(spec);
  if (spec.law == LawKind::kUnlimited) return std::make_unique<UnlimitedLaw>(CauseKind::kUnlimited);
  if (spec.signals.empty()) return std::make_unique<UnlimitedLaw>(CauseKind::kNoSignals);
  if (spec.law == LawKind::kAimd) return std::make_unique<AimdLaw>(spec);
  if (spec.law == LawKind::kGradient) return std::make_unique<GradientLaw>(spec);
  return std::make_unique<AdaptiveLaw>(spec);
}

}  // namespace spillway::governor
