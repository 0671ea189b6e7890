#include "app/control_loop.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "app/signal_views.h"

namespace spillway::app {
namespace {

// What live traffic asks for is known after this long; until then no backlog is let out.
constexpr base::Duration kMeasureLive = std::chrono::seconds(1);
constexpr base::Duration kShowEvery = std::chrono::seconds(1);

std::int64_t unix_micros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

governor::LawKind law_of(config::Law law) {
  switch (law) {
    case config::Law::kAdaptive: return governor::LawKind::kAdaptive;
    case config::Law::kAimd: return governor::LawKind::kAimd;
    case config::Law::kGradient: return governor::LawKind::kGradient;
    case config::Law::kFixed: return governor::LawKind::kFixed;
    case config::Law::kUnlimited: return governor::LawKind::kUnlimited;
  }
  return governor::LawKind::kAdaptive;
}

governor::GovernorSpec spec_of(const config::Config& config, std::vector<governor::SignalSpec> signals) {
  governor::GovernorSpec spec;
  spec.law = config.signals.empty() ? governor::LawKind::kUnlimited : law_of(config.governor.law);
  if (config.governor.law == config::Law::kFixed) spec.law = governor::LawKind::kFixed;
  spec.min = config.governor.min.per_second;
  if (config.governor.max) spec.max = config.governor.max->per_second;
  spec.backlog_min = config.governor.backlog_min.per_second;
  spec.aimd_increase = config.governor.aimd.increase.per_second;
  spec.aimd_decrease = config.governor.aimd.decrease;
  if (spec.law == governor::LawKind::kFixed) spec.fixed_rate = spec.max.value_or(spec.min);
  spec.hold_live = config.lanes.hold_live == config::HoldLive::kOnCollapse;
  spec.signals = std::move(signals);
  return spec;
}

// Nothing of the backlog, live as it comes.
governor::Decision live_alone() {
  governor::Decision decision;
  decision.total_rate = 0;
  decision.backlog_budget = 0;
  return decision;
}

kafka::Properties properties_of(const config::Config& config) {
  kafka::Properties properties;
  for (const config::KafkaProperty& property : config.kafka.properties) {
    properties.emplace_back(property.name, property.value);
  }
  return properties;
}

}  // namespace

base::Result<ControlLoop::Parts> ControlLoop::parts_of(const config::Config& config, runtime::Loop& loop) {
  auto hub = signals::SignalHub::open(loop, config.signals, properties_of(config));
  if (!hub) return std::unexpected(hub.error());
  Parts parts{spec_of(config, (*hub)->specs()), std::move(*hub)};
  if (auto fine = governor::check(parts.spec); !fine) return std::unexpected(fine.error());
  return parts;
}

base::Result<std::unique_ptr<ControlLoop>> ControlLoop::open(const config::Config& config, runtime::Loop& loop,
                                                             runtime::RelayDriver& driver, status::Steering& steering,
                                                             Say say) {
  auto parts = parts_of(config, loop);
  if (!parts) return std::unexpected(parts.error());
  return std::unique_ptr<ControlLoop>(
      new ControlLoop(config, loop, driver, steering, std::move(say), std::move(*parts)));
}

ControlLoop::ControlLoop(const config::Config& config, runtime::Loop& loop, runtime::RelayDriver& driver,
                         status::Steering& steering, Say say, Parts parts)
    : loop_(loop),
      driver_(driver),
      steering_(steering),
      say_(std::move(say)),
      tick_(config.governor.tick),
      parts_(std::move(parts)),
      timer_(loop, [this] { tick(); }) {
  if (steers()) driver_.pace(live_alone());
  tick();
}

base::Status ControlLoop::reload(const config::Config& config) {
  auto parts = parts_of(config, loop_);
  if (!parts) return std::unexpected(parts.error());
  parts_ = std::move(*parts);
  tick_ = config.governor.tick;
  governor_.reset();
  tick();
  return {};
}

void ControlLoop::tick() {
  const base::Instant now = runtime::Loop::now();
  if (driver_.relay().state() == relay::RelayState::kRunning) {
    decide(now);
  } else if (driver_.relay().state() == relay::RelayState::kStandby) {
    // Another relay is at it meanwhile: what this one knew of downstream gets old.
    running_since_.reset();
    governor_.reset();
    load_ = {};
    if (steers()) driver_.pace(live_alone());
  }
  if (base::elapsed(shown_at_, now) >= kShowEvery) show(now);
  timer_.at(now + tick_);
}

void ControlLoop::decide(base::Instant now) {
  governor::TickInputs in = load_.observe(driver_.relay(), now);
  publish_own_latency(now);
  const auto samples = parts_.hub->take();
  if (!running_since_) running_since_ = now;
  if (!governor_) {
    if (steers() && base::elapsed(*running_since_, now) < kMeasureLive) return;
    if (driver_.relay().capacity() > 0) parts_.spec.stored_capacity = driver_.relay().capacity();
    governor_ = std::make_unique<governor::Governor>(parts_.spec);
    others_.emplace(parts_.spec.signals);
  }
  in.samples = samples;
  in.foreign_rate = others_->tick(now, in.sent_events, samples);
  override_.follow(driver_.controls().limit, driver_.controls_at(), load_.sending().value_or(0), now, *governor_);
  const governor::State before = governor_->last().state;
  const governor::Decision& decision = governor_->tick(now, in);
  driver_.pace(decision);
  if (decision.state != before) say_state(decision);
  steering_.decided(unix_micros(), parts_.spec.law, decision, override_.held_at());
}

// Holding live, and flying blind, is said loudly.
void ControlLoop::say_state(const governor::Decision& decision) const {
  const bool loud = decision.state == governor::State::kBraking || decision.state == governor::State::kBlind;
  if (say_) say_(loud, fmt::format("governor {}: {}", to_string(decision.state), governor::text(decision)));
}

void ControlLoop::publish_own_latency(base::Instant now) {
  const auto& latency = driver_.relay().outbound().publish_seconds();
  parts_.hub->publish(now, {.bounds_s = latency.bounds(), .counts = latency.counts(), .sum_s = latency.sum()});
}

void ControlLoop::show(base::Instant now) {
  shown_at_ = now;
  steering_.heard(now, signal_views(parts_.hub->figures(now)));
  const auto published = [this](relay::Flow flow) { return driver_.relay().tallies().of(flow).published; };
  status::Waiting waiting;
  waiting.events = static_cast<std::int64_t>(load_.held_live());
  if (const auto behind = driver_.relay().behind(now); behind && *waiting.events > 0) {
    waiting.oldest_age_s = base::seconds(*behind);
  }
  steering_.sent(now,
                 {.live = published(relay::Flow::kLive),
                  .promoted = published(relay::Flow::kPromoted),
                  .backlog = published(relay::Flow::kBacklog)},
                 waiting);
}

}  // namespace spillway::app
