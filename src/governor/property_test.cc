// What must hold for every history of signals, live traffic and faults.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "governor/drain_pacer.h"
#include "governor/fluid_plant_for_test.h"

namespace spillway::governor {
namespace {

// RapidCheck takes the number of runs from its environment alone.
const int kRuns = setenv("RC_PARAMS", "max_success=10000", 0);

enum class Fault {
  kMissing,
  kNotANumber,
  kFrozen,
  kFrozenFigures,
  kWrongUnit,
  kBackInTime,
  kTooOld,
  kNegative,
  kPartial
};

// A random history of a governor: the samples need not make sense, only the numbers have to be numbers.
class History {
 public:
  explicit History(std::uint64_t seed, std::size_t signals = 1) : random_(seed) {
    spec_ = one_signal(1 + static_cast<double>(below(5)));
    spec_.min = 10 + uniform() * 200;
    if (uniform() < 0.3) spec_.max.reset();
    if (uniform() < 0.3) spec_.backlog_min = uniform() * 40;
    if (uniform() < 0.2) spec_.hold_live = false;
    if (uniform() < 0.3) spec_.signals[0].lag_ceiling_s = 0.2 + uniform();
    spec_.signals.resize(signals, spec_.signals[0]);
    for (std::size_t i = 0; i < signals; ++i) spec_.signals[i].name += std::to_string(i);
    live_ = uniform() < 0.1 ? 0 : uniform() * 2000;
    governor_.emplace(spec_);
  }

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  const GovernorSpec& spec() const { return spec_; }
  // From the next tick on, events/s.
  void offer(double live) { live_ = live; }
  void hold_live() {
    spec_.hold_live = true;
    governor_.emplace(spec_);
  }

  SignalSample sample() {
    SignalSample s;
    s.covers_until = at(t_);
    const double mood = uniform();
    s.completions = std::floor(mood < 0.1 ? uniform() * 30 : sent_ * (0.7 + 0.4 * uniform()));
    s.good = mood < 0.2 ? std::floor(s.completions * uniform()) : s.completions;
    if (s.completions > 0) {
      s.mean_s = 0.04 + uniform() * (mood < 0.3 ? 0.5 : 0.03);
      s.p99_s = *s.mean_s * (1 + 5 * uniform());
    }
    if (uniform() < 0.2) s.lag_events = uniform() * sent_;
    if (uniform() < 0.02) s.retry_after_s = uniform() * 3;
    return s;
  }

  SignalSample spoilt(Fault fault) {
    SignalSample s = healthy();
    switch (fault) {
      case Fault::kNotANumber: s.p99_s = std::numeric_limits<double>::quiet_NaN(); break;
      case Fault::kFrozen:
        s.completions = s.good = 0;
        s.mean_s.reset();
        s.p99_s.reset();
        s.source_moved = false;
        break;
      case Fault::kFrozenFigures:
        s = last_healthy_;
        s.covers_until = at(t_);
        break;
      case Fault::kWrongUnit:
        s.mean_s = *s.mean_s / 1000;
        s.p99_s = *s.p99_s / 1000;
        break;
      case Fault::kBackInTime: s.covers_until = last_healthy_.covers_until; break;
      case Fault::kTooOld: s.covers_until = at(std::max(0.0, t_ - spec_.signals[0].dead_time_s - 3)); break;
      case Fault::kNegative: s.completions = -5; break;
      case Fault::kPartial:
        s.targets_answered = 1;
        s.targets_expected = 2;
        s.completions = s.good = std::floor(s.completions / 2);
        break;
      case Fault::kMissing: break;
    }
    return s;
  }

  // A window that looks entirely well and would let any law grow.
  SignalSample healthy() {
    SignalSample s;
    s.covers_until = at(t_);
    s.completions = s.good = std::floor(std::max(100.0, sent_));
    s.mean_s = 0.05 + 1e-3 * uniform();
    s.p99_s = 0.2 + 1e-3 * uniform();
    return s;
  }
  // Nearly all answers late: of a service that retries have buried.
  SignalSample buried() {
    SignalSample s;
    s.covers_until = at(t_);
    s.completions = std::floor(100 + 900 * uniform());
    s.good = std::floor(s.completions * 0.5 * uniform());
    s.mean_s = 2 + uniform();
    s.p99_s = 2 * *s.mean_s;
    return s;
  }
  void remember(const SignalSample& s) { last_healthy_ = s; }

  const Decision& tick(double by_s, std::vector<SignalSample> samples) {
    if (uniform() < 0.2) live_ = std::max(0.0, live_ * (0.5 + uniform()));
    const Decision& d = governor_->tick(
        at(t_), {.live_rate = live_, .held_live = held_, .sent_events = just_sent_, .samples = samples});
    const double live_now = std::min(held_ + live_ * by_s, d.live_cap.value_or(1e12) * by_s);
    held_ = std::max(0.0, held_ + live_ * by_s - live_now);
    just_sent_ = live_now + std::min(d.backlog_budget, 1e6) * by_s;
    sent_ = 0.9 * sent_ + 0.1 * just_sent_ / by_s;
    t_ += by_s;
    return d;
  }

 private:
  std::mt19937_64 random_;
  GovernorSpec spec_;
  std::optional<Governor> governor_;
  SignalSample last_healthy_;
  double live_ = 0;
  double held_ = 0;
  double sent_ = 1000;
  double just_sent_ = 0;
  double t_ = 0;
};

RC_GTEST_PROP(Property, TotalNeverExceedsTheCapacityPlusTheQueueCorrection, (std::uint64_t seed)) {
  History h(seed);
  for (int second = 0; second < 40; ++second) {
    std::vector<SignalSample> samples;
    if (second > 0 && h.uniform() < 0.9) {
      samples.push_back(h.uniform() < 0.1 ? h.spoilt(static_cast<Fault>(h.below(9))) : h.sample());
    }
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 ? samples : std::vector<SignalSample>{});
      RC_ASSERT(std::isfinite(d.total_rate));
      RC_ASSERT(d.total_rate >= 0);
      RC_ASSERT(d.backlog_budget >= 0);
      RC_ASSERT(!d.live_cap || *d.live_cap >= 0);
      const auto& signal = h.spec().signals[0];
      const double widest = std::max(signal.latency_ceiling_s, signal.lag_ceiling_s);
      const double wanted_queue = 0.12 * widest * d.capacity;
      RC_ASSERT(d.total_rate <= std::max(h.spec().min, d.capacity + wanted_queue / 2.5) + 1e-6);
      if (d.state != State::kBraking && d.state != State::kBlind && d.live_rate >= d.total_rate) {
        RC_ASSERT(d.backlog_budget <= h.spec().backlog_min + 1e-9);
      }
    }
  }
}

RC_GTEST_PROP(Property, WhereLiveAloneTakesAllTheBacklogGetsItsMinimum, (std::uint64_t seed)) {
  History h(seed);
  for (int second = 0; second < 40; ++second) {
    std::vector<SignalSample> samples;
    if (second > 0) samples.push_back(h.uniform() < 0.5 ? h.healthy() : h.sample());
    // A window without completions is no news, and while there is none the backlog gets no more than it had.
    if (second > 0 && samples[0].completions == 0) samples[0] = h.healthy();
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 ? samples : std::vector<SignalSample>{});
      if (d.state != State::kBraking && d.live_rate >= d.total_rate) {
        RC_ASSERT(d.backlog_budget == h.spec().backlog_min);
      }
      if (tick == 3 && h.uniform() < 0.5) h.offer(d.total_rate * (0.9 + 2 * h.uniform()));
    }
  }
}

RC_GTEST_PROP(Property, NoSignalFaultRaisesTheRate, (std::uint64_t seed)) {
  History h(seed);
  const int healthy_for = 5 + static_cast<int>(h.below(30));
  double budget = 0;
  double total = 0;
  for (int second = 0; second < healthy_for; ++second) {
    SignalSample s = h.uniform() < 0.8 ? h.healthy() : h.sample();
    if (second == healthy_for - 1) s = h.healthy();
    h.remember(s);
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 && second > 0 ? std::vector{s} : std::vector<SignalSample>{});
      budget = d.backlog_budget;
      total = d.total_rate;
      if (d.state == State::kBraking) return;  // the brake's own release is not a fault of the signal
    }
  }
  const auto fault = static_cast<Fault>(h.below(9));
  for (int second = 0; second < 25; ++second) {
    for (int tick = 0; tick < 4; ++tick) {
      std::vector<SignalSample> samples;
      if (tick == 0 && fault != Fault::kMissing) samples.push_back(h.spoilt(fault));
      const Decision& d = h.tick(0.25, samples);
      // Until the first missing sample is overdue the last healthy one still stands: live may move, a Retry-After end.
      const bool still_standing = second == 0 && fault != Fault::kPartial;
      if (still_standing) {
        budget = std::max(budget, d.backlog_budget);
        total = std::max(total, d.total_rate);
      }
      RC_ASSERT(d.total_rate <= total + 1e-6);
      RC_ASSERT(d.backlog_budget <= budget + 1e-6);
    }
  }
}

RC_GTEST_PROP(Property, OneHealthySignalDoesNotRaiseTheRateForAnother, (std::uint64_t seed)) {
  History h(seed, 2);
  const auto both = [&](bool healthy) {
    std::vector<SignalSample> samples{h.healthy(), healthy ? h.healthy() : h.sample()};
    samples[1].signal = 1;
    return samples;
  };
  const int healthy_for = 5 + static_cast<int>(h.below(30));
  double budget = 0;
  double total = 0;
  for (int second = 0; second < healthy_for; ++second) {
    const auto samples = both(second == healthy_for - 1 || h.uniform() < 0.8);
    h.remember(samples[0]);
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 && second > 0 ? samples : std::vector<SignalSample>{});
      budget = d.backlog_budget;
      total = d.total_rate;
      if (d.state == State::kBraking) return;
    }
  }
  const auto fault = static_cast<Fault>(h.below(9));
  for (int second = 0; second < 25; ++second) {
    std::vector<SignalSample> samples{h.healthy()};
    samples[0].signal = 1;
    if (fault != Fault::kMissing) samples.push_back(h.spoilt(fault));
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 ? samples : std::vector<SignalSample>{});
      // Two sources do not speak at the same instant: one counts as missing once it is two seconds old.
      const bool still_standing = second <= 1 && fault != Fault::kPartial;
      if (still_standing) {
        budget = std::max(budget, d.backlog_budget);
        total = std::max(total, d.total_rate);
      }
      RC_ASSERT(d.total_rate <= total + 1e-6);
      RC_ASSERT(d.backlog_budget <= budget + 1e-6);
    }
  }
}

RC_GTEST_PROP(Property, NoSignalFaultEndsTheBrake, (std::uint64_t seed)) {
  History h(seed);
  h.hold_live();
  bool braking = false;
  for (int second = 0; second < 30; ++second) {
    const SignalSample s = second < 10 ? h.healthy() : h.buried();
    h.remember(s);
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = h.tick(0.25, tick == 0 && second > 0 ? std::vector{s} : std::vector<SignalSample>{});
      braking = d.state == State::kBraking;
    }
  }
  RC_ASSERT(braking);
  // All but the last: a target that is gone for good must not hold live for ever, so those that answer may end it.
  const auto fault = static_cast<Fault>(h.below(8));
  double total = std::numeric_limits<double>::infinity();
  for (int second = 0; second < 25; ++second) {
    for (int tick = 0; tick < 4; ++tick) {
      std::vector<SignalSample> samples;
      if (tick == 0 && fault != Fault::kMissing) samples.push_back(h.spoilt(fault));
      const Decision& d = h.tick(0.25, samples);
      RC_ASSERT(d.state == State::kBraking);
      RC_ASSERT(d.total_rate <= total + 1e-6);
      total = d.total_rate;
    }
  }
}

RC_GTEST_PROP(Property, PacingSendsNeverMoreThanItsRateAndABurst, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double rate = uniform(random) * 5000;
  Pacer pacer;
  pacer.set_rate(rate);
  double t = 0;
  double sent = 0;
  for (int i = 0; i < 100; ++i) {
    t += uniform(random) * 0.1;
    if (uniform(random) < 0.1) pacer.pause();
    pacer.refill(at(t));
    sent += static_cast<double>(pacer.take(static_cast<long long>(uniform(random) * 400)));
    RC_ASSERT(sent <= rate * t + std::max(1.0, rate * 0.05) + 1e-6);
  }
}

}  // namespace
}  // namespace spillway::governor
