#include "governor/adaptive.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "governor/predictor.h"

namespace spillway::governor {

namespace {

constexpr double kHighPressure = 0.75;
constexpr double kLiveTakesAll = 0.97;  // of the capacity
constexpr double kLongBlindnessS = 60;
constexpr double kAfterLongBlindness = 0.5;  // of the capacity
constexpr double kStoredConfidence = 0.8;    // of the capacity confirmed before a restart
constexpr double kSlowStartBelow = 0.6;      // of the last healthy capacity
constexpr double kOfLiveWhileHeld = 1.1;     // enough to work off what is held
constexpr double kSlowStartCalm = 0.5;
constexpr double kTrimAfterCollapse = 0.5;
constexpr double kWindowS = 1;
constexpr double kMostWindowsAtOnce = 15;
constexpr double kEnoughProbes = 20;
constexpr double kInFlightMargin = 1.25;

Cause cause_of(const Reading& r, const SignalSpec& spec) {
  switch (r.source) {
    case PressureSource::kErrors: return {CauseKind::kErrors, spec.name, r.error_ratio, spec.error_ceiling, ""};
    case PressureSource::kLag:
      return {CauseKind::kLag, spec.name, r.lag_wait_s,
              spec.lag_ceiling_s > 0 ? spec.lag_ceiling_s : spec.latency_ceiling_s, ""};
    case PressureSource::kThrottled:
    case PressureSource::kLatency: break;
  }
  return {CauseKind::kLatency, spec.name, r.pooled_p99_s, spec.latency_ceiling_s, ""};
}

}  // namespace

AdaptiveLaw::AdaptiveLaw(GovernorSpec spec) : spec_(std::move(spec)) {
  for (const SignalSpec& signal : spec_.signals) {
    tracks_.emplace_back(signal);
    dead_time_s_ = std::max(dead_time_s_, signal.dead_time_s);
    every_s_ = std::max(every_s_, signal.every_s);
  }
  watches_.resize(tracks_.size());
  fresh_.resize(tracks_.size(), false);
  partial_.resize(tracks_.size(), false);
}

void AdaptiveLaw::begin(base::Instant now, const TickInputs& in) {
  begun_ = true;
  origin_ = now;
  const double start = spec_.stored_capacity ? kStoredConfidence * *spec_.stored_capacity : 1.02 * in.live_rate;
  capacity_ = CapacityEstimate(std::max(start, spec_.min), std::max(spec_.min, 1.0));
  total_ = clamp_total(capacity_.value());
  healthy_total_ = total_;
  last_window_ = 0;
}

double AdaptiveLaw::clamp_total(double rate) const {
  return std::max(spec_.min, spec_.max ? std::min(rate, *spec_.max) : rate);
}

void AdaptiveLaw::hear(base::Instant now, const TickInputs& in) {
  const bool running = brake_.phase() != Brake::Phase::kHold && !blind_.active();
  for (const SignalSample& sample : in.samples) {
    if (sample.signal >= tracks_.size()) continue;
    SignalTrack& track = tracks_[sample.signal];
    CollapseWatch& watch = watches_[sample.signal];
    const auto verdict =
        track.take(sample, sent_, {.now = now, .t = t_, .capacity = capacity_.value(), .learn = running});
    if (verdict.missing != Missing::kNone) continue;
    partial_[sample.signal] = verdict.partial;
    if (verdict.zero) watch.on_silence(std::max(1.0, sample.window_s), verdict.sent_earlier);
    if (!verdict.reading) continue;
    const Reading& r = *verdict.reading;
    fresh_[sample.signal] = true;
    if (sample.retry_after_s) throttle_.on_request(t_, *sample.retry_after_s, r.delivered);
    // A signal without latency says by its errors alone whether it is well again after a collapse.
    if (track.spec().counts_events) {
      watch.on_window({.windows = r.windows,
                       .completions = r.completions,
                       .sent_earlier = r.counts ? r.sent_earlier : 0,
                       .error_ratio = r.error_ratio,
                       .mean_s = r.own_mean_s,
                       .p99_s = r.own_p99_s,
                       .latency_ceiling_s = r.latency_ceiling_s,
                       .base_mean_s = r.base_mean_s});
    }
  }
}

void AdaptiveLaw::look_for_collapse(const TickInputs& in) {
  if (!spec_.hold_live) return;
  Brake::Inputs brake{.t = t_,
                      .dead_time_s = dead_time_s_,
                      .capacity = capacity_.value(),
                      .held_live = in.held_live,
                      .live_rate = in.live_rate};
  brake.all_healthy = true;
  bool any = false;
  const CollapseWatch* worst = nullptr;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!tracks_[i].spec().counts_events) continue;
    any = true;
    const CollapseWatch& watch = watches_[i];
    if (!watch.healthy()) brake.all_healthy = false;
    const auto trouble = watch.stopped()            ? Brake::Trouble::kStopped
                         : watch.answers_too_late() ? Brake::Trouble::kLate
                                                    : Brake::Trouble::kNone;
    if (trouble != Brake::Trouble::kNone) brake.trouble = trouble;
    if (!worst || trouble != Brake::Trouble::kNone || watch.last_completions() < worst->last_completions()) {
      worst = &watch;
    }
  }
  if (!any) return;
  brake.median_completions = worst->median_completions();
  brake.last_completions = worst->last_completions();
  const auto before = brake_.phase();
  const bool released = brake_.step(brake);
  if (released) start_after_collapse();
  if (brake_.phase() == Brake::Phase::kHold && before != Brake::Phase::kHold) {
    for (CollapseWatch& watch : watches_) watch.start_hold();
    window_cause_ = {brake_.reason() == Brake::Trouble::kStopped ? CauseKind::kStopped : CauseKind::kCollapsed, "", 0,
                     0, ""};
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      if (&watches_[i] != worst) continue;
      window_cause_.signal = tracks_[i].spec().name;
      if (tracks_[i].last()) window_cause_.value = tracks_[i].last()->error_ratio;
    }
  }
}

void AdaptiveLaw::start_after_collapse() {
  capacity_.set(brake_.release_capacity());
  capacity_.set_known(true);
  capacity_.note_queue(t_);
  capacity_.forget_samples();
  trim_.restart(kTrimAfterCollapse);
  pressure_ = 0;
  total_ = clamp_total(capacity_.value());
  healthy_total_ = total_;
  seen_whole_ = true;
  blind_.leave();
  blind_for_s_ = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const CollapseWatch::Probes probes = watches_[i].probes();
    const bool enough = probes.count >= kEnoughProbes;
    // One standard error on top, as in every value the base is learnt from.
    tracks_[i].restart_after_collapse(
        t_, enough ? std::optional(probes.mean_s * (1 + 1 / std::sqrt(probes.count))) : std::nullopt,
        enough ? std::optional(probes.p99_s) : std::nullopt);
  }
}

bool AdaptiveLaw::window_is_due() const {
  bool any = false;
  bool all = true;
  for (const bool fresh : fresh_) {
    any = any || fresh;
    all = all && fresh;
  }
  return any && (all || t_ - last_window_ >= kWindowS);
}

const SignalTrack* AdaptiveLaw::stalest() const {
  const SignalTrack* found = nullptr;
  for (const SignalTrack& track : tracks_) {
    if (track.stale(t_) && (!found || track.last_fresh() < found->last_fresh())) found = &track;
  }
  return found;
}

void AdaptiveLaw::leave_blindness() {
  if (!blind_.active()) return;
  blind_.leave();
  if (blind_for_s_ > kLongBlindnessS) {
    capacity_.set(kAfterLongBlindness * capacity_.value());
    capacity_.set_known(false);
  }
  capacity_.forget_samples();
  blind_for_s_ = 0;
}

void AdaptiveLaw::learn_from_window() {
  std::vector<const Reading*> readings;
  bool may_rise = stalest() == nullptr;
  double windows = 1;
  if (may_rise) leave_blindness();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const SignalTrack& track = tracks_[i];
    if (partial_[i] || !track.current(t_) || !track.last()) may_rise = false;
    if (track.last() && !track.stale(t_)) readings.push_back(&*track.last());
    if (fresh_[i] && track.last()) windows = std::max(windows, std::min(track.last()->windows, kMostWindowsAtOnce));
    fresh_[i] = false;
  }
  last_window_ = t_;
  seen_whole_ = may_rise;
  if (readings.empty()) return;
  std::vector<Reading> milder;
  if (lets_held_live_out_first()) {
    milder.reserve(readings.size());
    for (const Reading*& reading : readings) reading = &milder.emplace_back(for_held_live(*reading));
  }
  const Combined worst = combine(readings);
  for (double w = windows - 1; w >= 0; --w) one_window(t_ - w, worst, may_rise);
  note_healthy_capacity(worst);
}

// A rate a tenth above live works off what is held; for more than that the ceiling holds as ever.
bool AdaptiveLaw::lets_held_live_out_first() const {
  return brake_.phase() == Brake::Phase::kRelease && capacity_.value() < kOfLiveWhileHeld * live_rate_;
}

// A service that dies without errors pulls the estimate down with it; that one was not healthy.
void AdaptiveLaw::note_healthy_capacity(const Combined& worst) {
  const bool errors = worst.counts && worst.counts->error_ratio >= kHealthyErrors;
  const bool dying = worst.counts && worst.counts->completions <= kSilence * worst.counts->sent_earlier;
  if (!errors && !dying && brake_.phase() == Brake::Phase::kRun) brake_.note_healthy(capacity_.value());
}

void AdaptiveLaw::one_window(double t, const Combined& worst, bool may_rise) {
  pressure_ = worst.pressure->pressure;
  const Reading& queue = *worst.queue;
  const double delivered = worst.counts ? worst.counts->delivered : queue.sent_earlier;
  trim_.on_window(pressure_, dead_time_s_);
  capacity_.on_window({.t = t,
                       .dead_time_s = dead_time_s_,
                       .delivered = delivered,
                       .sent_earlier = worst.counts ? worst.counts->sent_earlier : queue.sent_earlier,
                       .saturated = queue.saturated(),
                       .pressure = pressure_,
                       .room = room_,
                       .counts = worst.counts != nullptr,
                       .may_grow = may_rise});
  if (capacity_.known() && brake_.phase() == Brake::Phase::kRun) {
    headroom_.on_window({.t = t,
                         .completions = worst.pressure->completions,
                         .delivered = delivered,
                         .sent_earlier = worst.counts ? worst.counts->sent_earlier : 0,
                         .over_ceiling = worst.pressure->own_p99_s > worst.pressure->latency_ceiling_s,
                         .backlog_sends = backlog_sends_,
                         .tolerance = worst.pressure->tolerance});
    capacity_.keep_growth(headroom_.share_of_growth());
  }
  room_ = std::max(0.003 * (dead_time_s_ - 1) + 0.05 * (1 - trim_.value()), headroom_.value());
  const double c = capacity_.value();
  double rate = c;
  if (capacity_.known()) {
    rate = predicted_rate({.capacity = c,
                           .room = room_,
                           .queue = queue.queue_wait_s * delivered,
                           .wanted_queue = queue.standing_queue_s * trim_.value() * c,
                           .sent_in_flight = sent_.over(t - dead_time_s_, t, c),
                           .dead_time_s = dead_time_s_,
                           .saturated = queue.saturated()});
  }
  if (pressure_ >= 1) {
    capacity_.set_known(true);
    rate = std::min(rate, c * (1 - std::min(0.5, 0.03 + 0.05 * (pressure_ - 1))));
  }
  if (!may_rise) blind_.limit_total(clamp_total(rate));
  total_ = may_rise ? clamp_total(rate) : std::min(total_, clamp_total(rate));
  window_cause_ = pressure_ >= kHighPressure ? cause_of(*worst.pressure, tracks_[worst.pressure->signal].spec())
                  : queue.saturated() ? Cause{CauseKind::kQueue, tracks_[queue.signal].spec().name, queue.queue_wait_s,
                                              queue.standing_queue_s * trim_.value(), ""}
                                      : Cause{CauseKind::kGrowing, tracks_[queue.signal].spec().name, 0, 0, ""};
}

Decision AdaptiveLaw::tick(base::Instant now, const TickInputs& in) {
  if (!begun_) begin(now, in);
  t_ = base::seconds(base::elapsed(origin_, now));
  live_rate_ = in.live_rate;
  sent_.record(t_, in.sent_events);
  hear(now, in);
  look_for_collapse(in);
  if (brake_.phase() == Brake::Phase::kHold) return holding(in);
  if (brake_.phase() == Brake::Phase::kRelease && pressure_ < kSlowStartCalm &&
      t_ - capacity_.queue_seen() > dead_time_s_ + 1 &&
      capacity_.value() < kSlowStartBelow * brake_.last_healthy().value_or(capacity_.value())) {
    capacity_.set_known(false);
  }
  if (window_is_due()) learn_from_window();
  Decision d = decide(in);
  backlog_sends_ = in.backlog_waiting && d.backlog_budget > spec_.backlog_min;
  return d;
}

bool AdaptiveLaw::overdue() const { return t_ - last_window_ > 1.5 * every_s_; }

// The total stays what it was while a signal is overdue; the backlog must not grow into what live leaves meanwhile.
Decision AdaptiveLaw::decide(const TickInputs& in) {
  if (const SignalTrack* missing = stalest()) return blind(in, *missing);
  double total = total_;
  const auto bound = throttle_.at(t_);
  if (bound) total = std::min(total, *bound);
  const bool may_rise = !overdue() && seen_whole_;
  if (!may_rise) total = std::min(total, healthy_total_);
  Decision d = steering(in, total);
  if (!may_rise) d.backlog_budget = std::min(d.backlog_budget, healthy_budget_);
  healthy_total_ = total;
  healthy_budget_ = may_rise ? d.backlog_budget : healthy_budget_;
  if (bound && total < total_) {
    // While live is still held that is what people have to see.
    if (d.state != State::kBraking) d.state = State::kBackingOff;
    d.cause = {CauseKind::kThrottled, window_cause_.signal, total_, *bound, ""};
  }
  return d;
}

Decision AdaptiveLaw::holding(const TickInputs& in) const {
  Decision d;
  d.total_rate = brake_.probe_rate();
  d.live_cap = d.total_rate;
  d.backlog_budget = std::max(0.0, d.total_rate - in.live_rate - in.held_live);
  d.state = State::kBraking;
  d.cause = window_cause_;
  d.capacity = brake_.release_capacity();
  d.live_rate = in.live_rate;
  d.in_flight_window = in_flight_window();
  return d;
}

Decision AdaptiveLaw::steering(const TickInputs& in, double total) const {
  Decision d;
  d.total_rate = total;
  d.capacity = capacity_.value();
  d.live_rate = in.live_rate;
  d.in_flight_window = in_flight_window();
  if (brake_.phase() == Brake::Phase::kRelease) {
    d.live_cap = total;
    d.backlog_budget = std::max(0.0, total - in.live_rate - in.held_live);
    d.state = State::kBraking;
    d.cause = {CauseKind::kReleasing, "", in.held_live, 0, ""};
    return d;
  }
  d.backlog_budget = std::max(spec_.backlog_min, total - in.live_rate);
  explain(d, total);
  return d;
}

void AdaptiveLaw::explain(Decision& d, double total) const {
  d.state = !capacity_.known() ? State::kSlowStart : pressure_ >= kHighPressure ? State::kBackingOff : State::kTracking;
  d.cause = window_cause_;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const SignalTrack& track = tracks_[i];
    if (track.errors_independent() && d.state != State::kBackingOff) {
      d.cause = {CauseKind::kErrorsNotLoad, track.spec().name, track.last()->error_ratio, track.spec().error_ceiling,
                 ""};
    }
    if (partial_[i]) d.cause = {CauseKind::kPartialSignal, track.spec().name, 0, 0, ""};
  }
  if (spec_.max && total >= *spec_.max) d.cause = {CauseKind::kMaximum, "", total, *spec_.max, ""};
  if (total <= spec_.min) d.cause = {CauseKind::kFloor, "", total, spec_.min, ""};
  if (capacity_.known() && d.live_rate >= kLiveTakesAll * capacity_.value()) {
    d.backlog_budget = spec_.backlog_min;
    d.cause = {CauseKind::kLiveTakesAll, "", d.live_rate, capacity_.value(), ""};
  }
}

Decision AdaptiveLaw::blind(const TickInputs& in, const SignalTrack& missing) {
  const bool releasing = brake_.phase() == Brake::Phase::kRelease;
  blind_.enter(t_, releasing ? healthy_total_ : healthy_budget_, healthy_total_);
  blind_for_s_ = t_ - missing.last_fresh();
  capacity_.note_queue(t_);
  const double live = releasing ? 0 : in.live_rate;
  const double budget = blind_.budget(t_, live);
  total_ = std::min(blind_.total_when_lost(), std::max(live + budget, spec_.min));
  Decision d = steering(in, total_);
  if (!releasing) d.backlog_budget = std::min(budget, std::max(0.0, total_ - in.live_rate));
  d.state = State::kBlind;
  d.cause = {CauseKind::kSignalMissing, missing.spec().name, blind_for_s_, missing.spec().dead_time_s + 2,
             missing.last_missing() == Missing::kNone ? "nothing arrives" : to_string(missing.last_missing())};
  return d;
}

double AdaptiveLaw::in_flight_window() const {
  double longest = 0;
  for (const SignalTrack& track : tracks_) {
    if (track.baseline().known()) {
      longest = std::max(longest, track.spec().base_path_s + track.baseline().mean_s());
    }
  }
  return kInFlightMargin * capacity_.value() * longest;
}

}  // namespace spillway::governor
