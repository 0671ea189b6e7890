#include "signals/signal_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/nearest.h"
#include "signals/describe.h"
#include "signals/http_probe_source.h"
#include "signals/kafka_lag_source.h"
#include "signals/observed_source.h"
#include "signals/prometheus_source.h"

namespace spillway::signals {
namespace {

constexpr std::size_t kMostKept = 64;
constexpr double kGraceS = 2;  // beyond the dead time, as the governor waits

}  // namespace

struct SignalHub::Signal {
  config::SignalConfig config;
  governor::SignalSpec spec;
  std::unique_ptr<SignalSource> source{};
  // The same object as `source`, where it is of that kind.
  ObservedSource* observed = nullptr;
  RelaySource* relay = nullptr;
  std::optional<governor::SignalSample> newest{};
};

SignalHub::SignalHub(std::vector<config::SignalConfig> signals) : opened_at_(runtime::Loop::now()) {
  for (config::SignalConfig& config : signals) {
    governor::SignalSpec spec = describe(config);
    signals_.push_back(std::make_unique<Signal>(Signal{.config = std::move(config), .spec = std::move(spec)}));
  }
}

SignalHub::~SignalHub() = default;

base::Result<std::unique_ptr<SignalHub>> SignalHub::open(runtime::Loop& loop, std::vector<config::SignalConfig> signals,
                                                         const kafka::Properties& properties) {
  std::unique_ptr<SignalHub> hub(new SignalHub(std::move(signals)));
  for (std::size_t i = 0; i < hub->signals_.size(); ++i) {
    if (auto started = hub->start(loop, properties, i); !started) {
      return base::fail(started.error().error_class,
                        fmt::format("signals[{}] {}: {}", i, hub->signals_[i]->spec.name, started.error().message));
    }
  }
  return hub;
}

base::Status SignalHub::start(runtime::Loop& loop, const kafka::Properties& properties, std::size_t index) {
  Signal& signal = *signals_[index];
  Emit emit = [this, index](governor::SignalSample sample) { arrived(index, std::move(sample)); };
  const auto keep = [&signal](auto opened) -> base::Status {
    if (!opened) return std::unexpected(opened.error());
    signal.source = std::move(*opened);
    return {};
  };
  switch (signal.config.kind) {
    case config::SignalKind::kPrometheus: return keep(PrometheusSource::open(loop, signal.config, std::move(emit)));
    case config::SignalKind::kHttpProbe: return keep(HttpProbeSource::open(loop, signal.config, std::move(emit)));
    case config::SignalKind::kKafkaLag:
      return keep(KafkaLagSource::open(loop, signal.config, properties, std::move(emit)));
    case config::SignalKind::kPush: {
      auto source = std::make_unique<ObservedSource>(loop, signal.config.latency_ceiling.has_value(), std::move(emit));
      signal.observed = source.get();
      signal.source = std::move(source);
      return {};
    }
    case config::SignalKind::kRelay: {
      auto source = std::make_unique<RelaySource>(signal.spec.latency_ceiling_s, std::move(emit));
      signal.relay = source.get();
      signal.source = std::move(source);
      return {};
    }
  }
  return {};
}

void SignalHub::arrived(std::size_t index, governor::SignalSample sample) {
  sample.signal = index;
  signals_[index]->newest = sample;
  const auto of_this = [&](const governor::SignalSample& other) { return other.signal == index; };
  if (static_cast<std::size_t>(std::ranges::count_if(arrived_, of_this)) >= kMostKept) {
    arrived_.erase(std::ranges::find_if(arrived_, of_this));
  }
  arrived_.push_back(std::move(sample));
}

std::vector<governor::SignalSpec> SignalHub::specs() const {
  std::vector<governor::SignalSpec> all;
  for (const auto& signal : signals_) all.push_back(signal->spec);
  return all;
}

std::vector<governor::SignalSample> SignalHub::take() { return std::exchange(arrived_, {}); }

ObservedSource* SignalHub::pushed(std::string_view name) {
  const auto found = std::ranges::find_if(
      signals_, [&](const auto& signal) { return signal->observed != nullptr && signal->spec.name == name; });
  return found == signals_.end() ? nullptr : (*found)->observed;
}

std::string SignalHub::unknown_name(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& signal : signals_) {
    if (signal->observed != nullptr) names.push_back(signal->spec.name);
  }
  if (names.empty()) return "no signal of kind push is configured";
  const std::string near = config::nearest(name, names);
  return fmt::format("no signal of kind push is called \"{}\"{}", name.substr(0, 64),
                     near.empty() ? "" : fmt::format(", did you mean {}?", near));
}

base::Result<std::size_t> SignalHub::observe(std::string_view json) {
  const auto observations = read_observations(json);
  if (!observations) return std::unexpected(observations.error());
  for (std::size_t i = 0; i < observations->size(); ++i) {
    const std::string& name = (*observations)[i].name;
    if (pushed(name) != nullptr) continue;
    return base::fail(base::ErrorClass::kRejected, fmt::format("observation {}: {}", i + 1, unknown_name(name)));
  }
  std::size_t told = 0;
  for (const Observation& observation : *observations) {
    pushed(observation.name)->observe(observation);
    told += static_cast<std::size_t>(observation.count);
  }
  return told;
}

void SignalHub::publish(base::Instant now, const PublishFigures& figures) {
  for (const auto& signal : signals_) {
    if (signal->relay != nullptr) signal->relay->publish(now, figures);
  }
}

std::vector<SignalFigures> SignalHub::figures(base::Instant now) const {
  std::vector<SignalFigures> all;
  for (const auto& signal : signals_) all.push_back(figures_of(*signal, now));
  return all;
}

SignalFigures SignalHub::figures_of(const Signal& signal, base::Instant now) const {
  const governor::SignalSpec& spec = signal.spec;
  const bool lag = signal.config.kind == config::SignalKind::kKafkaLag;
  SignalFigures f{.name = spec.name, .kind = signal.config.kind, .trouble = signal.source->trouble(now)};
  if (lag) {
    f.ceiling_s = spec.lag_ceiling_s;
  } else if (signal.config.latency_ceiling) {
    f.ceiling_s = spec.latency_ceiling_s;
  }
  if (spec.error_ceiling < 1) f.error_ceiling = spec.error_ceiling;
  const double patience = spec.dead_time_s + kGraceS;
  if (!signal.newest) {
    const bool early = base::seconds(base::elapsed(opened_at_, now)) <= patience + spec.every_s;
    f.state = early ? SignalState::kStarting : SignalState::kMissing;
    return f;
  }
  const governor::SignalSample& sample = *signal.newest;
  f.age_s = base::seconds(base::elapsed(sample.covers_until, now));
  f.p99_s = sample.p99_s;
  f.completions = sample.completions / sample.window_s;
  if (sample.completions > 0) f.error_rate = 1 - sample.good / sample.completions;
  if (lag) {
    f.lag_events = sample.lag_events;
    f.lag_s = sample.lag_events / std::max(1.0, *f.completions);
  }
  const bool over = (f.ceiling_s && f.p99_s.value_or(0) >= *f.ceiling_s) || (lag && *f.lag_s >= *f.ceiling_s) ||
                    (f.error_ceiling && f.error_rate.value_or(0) >= *f.error_ceiling);
  if (*f.age_s > patience || !sample.source_moved) {
    f.state = SignalState::kMissing;
  } else if (sample.targets_answered < sample.targets_expected) {
    f.state = SignalState::kPartial;
  } else {
    f.state = over ? SignalState::kOver : SignalState::kOk;
  }
  return f;
}

}  // namespace spillway::signals
