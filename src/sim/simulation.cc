#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "governor/drain_pacer.h"
#include "governor/foreign_traffic.h"
#include "governor/governor.h"
#include "governor/live_rate.h"
#include "sim/ideal.h"
#include "sim/oracle.h"
#include "sim/plant.h"
#include "sim/run_metrics.h"
#include "sim/signal_pipeline.h"

namespace spillway::sim {

namespace {

// The grid on which time-driven things happen; everything else happens between its points, when it is due.
constexpr double kStepS = 0.01;
constexpr int kStepsPerRefill = 2;
constexpr int kStepsPerTick = 25;
constexpr int kStepsPerSecond = 100;

class Simulation final : public PlantListener {
 public:
  Simulation(const Scenario& scenario, const governor::GovernorSpec& spec, const std::string& law, std::uint64_t seed);

  // Until the backlog is gone or `until`. Returns the time of the last delivery, or nothing.
  std::optional<double> run(double until);
  void finish(double end, RunResult& result);

  void on_answer(const Answer& answer) override;
  void on_returned(double at) override;

 private:
  std::unique_ptr<governor::Governor> fresh_governor() const;
  bool done() const { return backlog_ <= 0 && outstanding_ <= 0 && held_.empty(); }
  void events_until(double t);
  void live_arrives(double t);
  double next_after(double t, double rate);
  void on_grid(long step);
  void apply_changes(double t);
  void tick(double t);
  void watch_blindness(const governor::Decision& d);
  void release(double t);
  void send(double t, Traffic traffic);
  void close_second(double t);

  const Scenario& scenario_;
  governor::GovernorSpec spec_;
  std::string law_;
  Random random_;
  Random service_random_;
  Plant plant_;
  SignalPipeline signal_;
  RunMetrics metrics_;
  std::unique_ptr<governor::Governor> governor_;
  governor::ForeignTraffic foreign_;
  governor::DrainPacer pacer_;
  governor::LiveRate live_rate_;
  std::deque<double> held_;  // arrival times of live events that wait in the outbox
  double backlog_;
  double outstanding_ = 0;  // backlog events sent and not yet delivered
  double next_live_ = 0;
  double next_foreign_ = kNever;
  double sent_since_tick_ = 0;
  double arrived_since_tick_ = 0;
  double live_events_ = 0;
  double last_delivery_ = 0;
  std::size_t next_change_ = 0;
  std::size_t next_pause_ = 0;
  std::size_t next_restart_ = 0;
  std::deque<double> budgets_;  // for the backlog, of the last seconds in which the governor saw
  double max_blind_rise_ = 0;
};

Simulation::Simulation(const Scenario& scenario, const governor::GovernorSpec& spec, const std::string& law,
                       std::uint64_t seed)
    : scenario_(scenario),
      spec_(spec),
      law_(law),
      random_(seed),
      service_random_(seed ^ 0x9e3779b97f4a7c15ULL),
      plant_(scenario, service_random_, *this),
      signal_(scenario, random_),
      metrics_(scenario),
      foreign_(spec.signals),
      live_rate_(scenario.live.offered(0)),
      backlog_(std::floor(scenario.backlog)) {
  governor_ = fresh_governor();
  next_live_ = next_after(0, scenario.live.offered(0));
  if (scenario.live.foreign_rate > 0) next_foreign_ = next_after(0, scenario.live.foreign_rate);
}

std::unique_ptr<governor::Governor> Simulation::fresh_governor() const {
  if (law_ == "oracle") return std::make_unique<governor::Governor>(spec_, std::make_unique<OracleLaw>(scenario_));
  return std::make_unique<governor::Governor>(spec_);
}

double Simulation::next_after(double t, double rate) { return rate > 0 ? t + random_.exponential(1 / rate) : t + 1; }

void Simulation::on_answer(const Answer& answer) {
  signal_.record(answer);
  metrics_.on_answer(answer);
  if (answer.traffic != Traffic::kBacklog || !answer.good) return;
  outstanding_ -= 1;
  last_delivery_ = answer.at;
}

void Simulation::on_returned(double) {
  outstanding_ -= 1;
  backlog_ += 1;
}

void Simulation::send(double t, Traffic traffic) {
  sent_since_tick_ += 1;
  metrics_.on_sent(1);
  plant_.send(t, traffic);
}

void Simulation::live_arrives(double t) {
  arrived_since_tick_ += 1;
  live_events_ += 1;
  if (held_.empty() && pacer_.take_live(1) == 1) return send(t, Traffic::kLive);
  held_.push_back(t);
}

void Simulation::events_until(double t) {
  while (true) {
    const double at_plant = plant_.next_event();
    const double next = std::min({at_plant, next_live_, next_foreign_});
    if (next >= t) return;
    if (next == at_plant) {
      plant_.step();
    } else if (next == next_live_) {
      const double rate = scenario_.live.offered(next);
      if (rate > 0) live_arrives(next);
      next_live_ = next_after(next, rate);
    } else {
      plant_.send(next, Traffic::kForeign);
      next_foreign_ = next_after(next, scenario_.live.foreign_rate);
    }
  }
}

void Simulation::apply_changes(double t) {
  while (next_change_ < scenario_.changes.size() && scenario_.changes[next_change_].at <= t) {
    plant_.change(t, scenario_.changes[next_change_++]);
  }
  while (next_pause_ < scenario_.pauses.size() && scenario_.pauses[next_pause_].from <= t) {
    const Span& pause = scenario_.pauses[next_pause_++];
    plant_.pause(t, pause.until - pause.from);
  }
  while (next_restart_ < scenario_.relay_restarts.size() && scenario_.relay_restarts[next_restart_] <= t) {
    ++next_restart_;
    if (governor_->last().capacity > 0) spec_.stored_capacity = governor_->last().capacity;
    governor_ = fresh_governor();
    foreign_ = governor::ForeignTraffic(spec_.signals);
  }
}

void Simulation::tick(double t) {
  const double seconds = kStepsPerTick * kStepS;
  if (t > 0) live_rate_.add(std::exchange(arrived_since_tick_, 0), seconds);
  const auto samples = signal_.due(t);
  const double sent = std::exchange(sent_since_tick_, 0);
  const double seen = foreign_.tick(at_instant(t), sent, samples);
  const double foreign = law_ == "oracle" ? scenario_.live.foreign_rate : seen;
  const governor::Decision& d = governor_->tick(at_instant(t), {.live_rate = live_rate_.value(),
                                                                .foreign_rate = foreign,
                                                                .held_live = static_cast<double>(held_.size()),
                                                                .sent_events = sent,
                                                                .backlog_waiting = backlog_ >= 1,
                                                                .samples = samples});
  pacer_.apply(d);
  watch_blindness(d);
}

// What held in the dead time and the two seconds before the loss was noticed is what held when the signal was lost.
void Simulation::watch_blindness(const governor::Decision& d) {
  if (d.state != governor::State::kBlind) {
    budgets_.push_back(d.backlog_budget);
    const double ticks = (scenario_.dead_time_s() + 4) / (kStepsPerTick * kStepS);
    if (static_cast<double>(budgets_.size()) > ticks) budgets_.pop_front();
  } else if (!budgets_.empty()) {
    const double before = *std::max_element(budgets_.begin(), budgets_.end());
    max_blind_rise_ = std::max(max_blind_rise_, d.backlog_budget - before);
  }
}

void Simulation::release(double t) {
  pacer_.refill(at_instant(t));
  for (long long n = pacer_.take_live(std::ssize(held_)); n > 0; --n) {
    metrics_.on_hold(t - held_.front());
    held_.pop_front();
    send(t, Traffic::kLive);
  }
  for (long long n = pacer_.take_backlog(static_cast<long long>(backlog_)); n > 0; --n) {
    backlog_ -= 1;
    outstanding_ += 1;
    send(t, Traffic::kBacklog);
  }
}

void Simulation::close_second(double t) {
  SecondOfRun s;
  s.live_offered = static_cast<float>(scenario_.live.offered(t - 1));
  s.capacity = static_cast<float>(scenario_.capacity(t - 1));
  s.estimate = static_cast<float>(governor_->last().capacity);
  s.backlog = static_cast<float>(backlog_);
  s.held = static_cast<float>(held_.size());
  s.state = governor_->last().state;
  metrics_.close_second(s);
}

void Simulation::on_grid(long step) {
  const double t = static_cast<double>(step) * kStepS;
  if (step % kStepsPerSecond == 0 && step > 0) {
    close_second(t);
    const auto window = static_cast<long>(std::max(1.0, std::round(scenario_.signal.window_s)));
    if (step / kStepsPerSecond % window == 0) signal_.close_window(t, plant_.waiting_in_topic());
  }
  apply_changes(t);
  if (step % kStepsPerTick == 0) tick(t);
  if (step % kStepsPerRefill == 0) release(t);
}

std::optional<double> Simulation::run(double until) {
  const long last = std::lround(until / kStepS);
  for (long step = 0; step <= last; ++step) {
    events_until(static_cast<double>(step) * kStepS);
    if (scenario_.backlog > 0 && done()) return last_delivery_;
    on_grid(step);
  }
  return std::nullopt;
}

void Simulation::finish(double end, RunResult& result) {
  metrics_.finish(end, result);
  result.left = backlog_ + outstanding_;
  result.events = scenario_.backlog + live_events_;
  result.attempts_per_event = plant_.attempts() / std::max(1.0, result.events - result.left);
  result.max_blind_rise = max_blind_rise_;
}

base::Result<governor::GovernorSpec> spec_for(const Scenario& scenario, const std::string& law) {
  governor::GovernorSpec spec = scenario.governor;
  spec.signals.front().dead_time_s = scenario.dead_time_s();
  spec.signals.front().every_s = std::max(1.0, scenario.signal.window_s);
  spec.signals.front().base_path_s = scenario.path_s;
  if (law == "oracle") return spec;
  const auto kind = governor::parse_law(law);
  if (!kind) return std::unexpected(kind.error());
  spec.law = *kind;
  if (spec.law == governor::LawKind::kFixed && spec.fixed_rate <= 0) spec.fixed_rate = 0.9 * scenario.capacity(0);
  if (const auto fine = governor::check(spec); !fine) return std::unexpected(fine.error());
  return spec;
}

}  // namespace

base::Result<RunResult> simulate(const Scenario& scenario, const RunOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const auto spec = spec_for(scenario, options.law);
  if (!spec) return std::unexpected(spec.error());
  const auto ideal = ideal_seconds(scenario);
  if (!ideal) {
    return base::fail(
        base::ErrorClass::kMisconfigured,
        fmt::format("scenario {}: capacity ({}/s) stays below live traffic ({}/s), so no law can ever clear "
                    "the backlog; lower `live` or raise `downstream`.",
                    scenario.name, scenario.capacity(0), scenario.live.offered(0)));
  }
  RunResult result;
  result.scenario = scenario.name;
  result.law = options.law;
  result.seed = options.seed;
  result.ideal_s = ideal;
  const double give_up = 4 * *ideal;
  Simulation simulation(scenario, *spec, options.law, options.seed);
  result.clear_s = simulation.run(give_up);
  result.recovered = result.clear_s.has_value();
  simulation.finish(result.clear_s.value_or(give_up), result);
  if (!options.keep_seconds) result.seconds.clear();
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

double live_p99_alone(const Scenario& scenario, std::uint64_t seed, double seconds) {
  Scenario alone = scenario;
  alone.backlog = 0;
  Simulation simulation(alone, alone.governor, "adaptive", seed);
  simulation.run(seconds);
  RunResult result;
  simulation.finish(seconds, result);
  return result.live_p99_s;
}

}  // namespace spillway::sim
