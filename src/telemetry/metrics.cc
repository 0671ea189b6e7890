#include "telemetry/metrics.h"

#include <algorithm>
#include <array>
#include <limits>

#include "status/assemble.h"
#include "telemetry/exposition.h"

namespace spillway::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr std::array kFailureNames = {"retriable", "fatal", "too_large", "auth", "timeout", "rejected"};
constexpr std::array kStates = {"idle", "slow_start", "tracking", "backing_off", "blind", "braking", "manual"};
constexpr std::array kCallBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0};

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk: return "ok";
    case Outcome::kError: return "error";
    case Outcome::kTimeout: return "timeout";
  }
  return "unknown";
}

}  // namespace

// Collects families in the order of their first sample.
class Metrics::Page {
 public:
  template <typename T>
  void gauge(const char* name, const char* help, T value, Labels labels = {}) {
    ClientMetric& metric = sample(name, help, MetricType::Gauge, std::move(labels));
    metric.gauge.value = static_cast<double>(value);
  }
  template <typename T>
  void gauge(const char* name, const char* help, const std::optional<T>& value, Labels labels = {}) {
    if (value) gauge(name, help, *value, std::move(labels));
  }
  template <typename T>
  void counter(const char* name, const char* help, T value, Labels labels = {}) {
    ClientMetric& metric = sample(name, help, MetricType::Counter, std::move(labels));
    metric.counter.value = static_cast<double>(value);
  }
  void histogram(const char* name, const char* help, const Buckets& buckets, Labels labels = {}) {
    ClientMetric& metric = sample(name, help, MetricType::Histogram, std::move(labels));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < buckets.counts.size(); ++i) {
      below += buckets.counts[i];
      const double bound = i < buckets.bounds.size() ? buckets.bounds[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({below, bound});
    }
    metric.histogram.sample_count = below;
    metric.histogram.sample_sum = buckets.sum;
  }

  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  ClientMetric& sample(const char* name, const char* help, MetricType type, Labels labels) {
    auto at = std::find_if(families_.begin(), families_.end(), [&](const auto& family) { return family.name == name; });
    if (at == families_.end()) at = families_.insert(at, MetricFamily{name, help, type, {}});
    ClientMetric& metric = at->metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<MetricFamily> families_;
};

void Metrics::status(const status::Status& status, std::optional<double> figures_unix_s) {
  status_ = status;
  figures_unix_s_ = figures_unix_s;
  // Counts beyond 10,000 are estimates and may go back a little; a counter may not.
  if (status.store.figures) arrived_ = std::max(arrived_, status::arrived_total(*status.store.figures));
}

void Metrics::relay(const relay::RelayCounters& counters, Buckets publish_seconds, Buckets delay_seconds) {
  counters_ = counters;
  publish_seconds_ = std::move(publish_seconds);
  delay_seconds_ = std::move(delay_seconds);
}

void Metrics::lane(const std::string& lane, std::int64_t published, std::int64_t bytes, Buckets delay_seconds) {
  lanes_[lane] = {published, bytes, std::move(delay_seconds)};
}

void Metrics::called(const std::string& dependency, const std::string& operation, Outcome outcome,
                     base::Duration took) {
  Calls& calls = calls_[{dependency, operation}];
  if (calls.seconds.counts.empty()) {
    calls.seconds.bounds.assign(kCallBounds.begin(), kCallBounds.end());
    calls.seconds.counts.assign(kCallBounds.size() + 1, 0);
  }
  ++calls.outcomes[outcome];
  const double seconds = base::seconds(took);
  const auto& bounds = calls.seconds.bounds;
  ++calls.seconds
        .counts[static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin())];
  calls.seconds.sum += seconds;
}

void Metrics::config_loaded(bool successful, double unix_s) {
  config_successful_ = successful;
  if (successful) config_success_unix_s_ = unix_s;
}

void Metrics::put_backlog(Page& page) const {
  const status::Status& now = *status_;
  const bool lanes = now.live.events.has_value();
  const Labels lane = {{"lane", lanes ? "backlog" : "all"}};
  constexpr const char* kRows = "spillway_backlog_rows";
  constexpr const char* kRowsHelp = "Rows that wait in the outbox.";
  constexpr const char* kAge = "spillway_backlog_oldest_age_seconds";
  constexpr const char* kAgeHelp = "Age of the oldest row that waits.";
  page.gauge(kRows, kRowsHelp, now.backlog.events, lane);
  // Empty is zero, so that a graph falls to the ground instead of ending.
  const auto age = now.backlog.events == 0 ? std::optional<double>(0) : now.backlog.oldest_age_s;
  page.gauge(kAge, kAgeHelp, age, lane);
  if (lanes) {
    page.gauge(kRows, kRowsHelp, now.live.events, {{"lane", "live"}});
    page.gauge(kAge, kAgeHelp, now.live.oldest_age_s, {{"lane", "live"}});
  }
  page.gauge("spillway_backlog_bytes", "Size of the rows that wait, estimated from a sample.", now.backlog.bytes);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  page.gauge("spillway_backlog_eta_seconds", "Until the backlog is gone; +Inf: never at this rate.",
             now.eta.kind == status::Eta::Kind::kNever ? std::optional(kNever) : now.eta.seconds);
  if (now.store.figures) page.counter("spillway_rows_arrived_total", "Rows that arrived in the outbox.", arrived_);
  page.gauge("spillway_refresh_timestamp_seconds", "When the figures that need a query were last true.",
             figures_unix_s_);
}

// Of each lane, or of all in one where the relay does not tell them apart.
void Metrics::put_lanes(Page& page) const {
  const auto put = [&page](const std::string& name, const Lane& lane) {
    const Labels label = {{"lane", name}};
    page.counter("spillway_rows_published_total", "Rows acknowledged by the broker.", lane.published, label);
    page.counter("spillway_published_bytes_total", "Bytes of the rows acknowledged by the broker.", lane.bytes, label);
    page.histogram("spillway_row_delay_seconds", "From a row's created_at to its acknowledgement.", lane.delay_seconds,
                   label);
  };
  for (const auto& [name, lane] : lanes_) put(name, lane);
  if (lanes_.empty()) put("all", {counters_->published, counters_->published_bytes, delay_seconds_});
}

void Metrics::put_flow(Page& page) const {
  if (counters_) {
    put_lanes(page);
    for (std::size_t i = 0; i < kFailureNames.size(); ++i) {
      page.counter("spillway_publish_failures_total", "Records that the broker did not acknowledge.",
                   publish_failures_[i], {{"reason", kFailureNames[i]}});
    }
    page.histogram("spillway_publish_duration_seconds", "From handing a record over to its acknowledgement.",
                   publish_seconds_);
    page.counter("spillway_rows_read_total", "Rows read from the outbox.", counters_->read);
    page.counter("spillway_rows_read_again_total", "Rows read again for a partition that had to wait.",
                 counters_->read_again);
    page.counter("spillway_rows_set_aside_total", "Rows that the broker refuses.", counters_->set_aside);
    page.counter("spillway_saves_total", "Times that the position was saved.", counters_->saves);
    page.counter("spillway_restarts_from_saved_position_total",
                 "Times that memory was dropped and reading began again.", counters_->forgotten);
  }
  if (status_ && status_->relay) {
    const status::LiveFigures& live = *status_->relay;
    page.gauge("spillway_in_flight_rows", "Rows sent and not acknowledged.", live.in_flight);
    page.gauge("spillway_in_flight_bytes", "Bytes sent and not acknowledged.", live.in_flight_bytes);
    page.gauge("spillway_unfinished_rows", "Rows read and not finished.", live.unfinished);
    page.gauge("spillway_partitions_stuck", "Partitions and topics that take nothing.", live.stuck.size());
    page.gauge("spillway_reading_held", "1 while reading stands still at limits.ahead.", live.held_by_ahead);
    page.gauge("spillway_loop_turn_age_seconds", "Since the relay's loop last came round.", live.turn_age_s);
  }
}

void Metrics::put_people(Page& page) const {
  for (const auto& [judged, count] : triaged_) {
    page.counter("spillway_triage_decisions_total", "Backlog rows judged, by the rule that decided.", count,
                 {{"rule", judged.first}, {"verdict", judged.second}});
  }
  if (!status_->store.figures) return;
  const ports::Figures& figures = *status_->store.figures;
  page.gauge("spillway_live_behind_their_key_rows", "Live rows that wait for the backlog of their key.",
             figures.behind_their_key);
  page.gauge("spillway_reconcile_open_rows", "Rows that wait for a person.", figures.open_settlements);
  page.gauge("spillway_reconcile_oldest_age_seconds", "Age of the oldest row that waits for a person.",
             figures.open_settlements == 0 ? std::optional<double>(0) : figures.oldest_open_age_s);
  page.gauge("spillway_paused", "1 while a person holds the lane.", figures.pause.all, {{"lane", "live"}});
  page.gauge("spillway_paused", "1 while a person holds the lane.", figures.pause.all || figures.pause.backlog,
             {{"lane", "backlog"}});
  page.gauge("spillway_overrides_active", "1 while a person limits the governor.", figures.limit.has_value());
  page.gauge("spillway_progress_age_seconds", "Since the position was last saved.", figures.progress_age_s);
  page.gauge("spillway_key_headroom_ratio", "Share of the outbox key's range that is still free.",
             figures.seq_headroom);
}

void Metrics::put_governor(Page& page) const {
  if (!status_->relay) return;
  const status::GovernorView& governor = status_->governor;
  page.gauge("spillway_governor_capacity_rows_per_second", "What downstream is thought to take.", governor.capacity);
  page.gauge("spillway_governor_budget_rows_per_second", "What the backlog may use.", governor.budget);
  page.gauge("spillway_governor_live_demand_rows_per_second", "What live traffic asks for.", governor.live_demand);
  page.gauge("spillway_governor_others_rows_per_second", "What others send to the same downstream.", governor.others);
  for (const auto& [decided, count] : decisions_) {
    page.counter("spillway_governor_decisions_total", "Decisions by what they did to the rate and what bound it.",
                 count, {{"action", to_string(decided.first)}, {"cause", to_string(decided.second)}});
  }
  for (const char* state : kStates) {
    page.gauge("spillway_governor_state", "1 for the state that the governor is in.", governor.state == state,
               {{"state", state}});
  }
}

void Metrics::put_signals(Page& page) const {
  for (const status::SignalView& signal : status_->signals) {
    const Labels label = {{"signal", signal.name}};
    const auto seconds = [](const std::optional<double>& ms) {
      return ms ? std::optional(*ms / 1000) : std::optional<double>();
    };
    page.gauge("spillway_signal_latency_seconds", "Latency of downstream as the signal sees it.",
               seconds(signal.p99_ms), {{"signal", signal.name}, {"quantile", "0.99"}});
    page.gauge("spillway_signal_lag_seconds", "How long events wait in front of the consumers.", seconds(signal.lag_ms),
               label);
    page.gauge("spillway_signal_latency_ceiling_seconds", "What the latency, or else the lag, may be.",
               seconds(signal.ceiling_ms), label);
    page.gauge("spillway_signal_error_ratio", "Share of errors downstream.", signal.error_rate, label);
    page.gauge("spillway_signal_age_seconds", "Since the signal last spoke.", signal.age_s, label);
  }
}

void Metrics::put_lease(Page& page) const {
  if (status_ && status_->relay) {
    page.gauge("spillway_lease_held", "1 while this process owns the outbox.",
               status_->relay->state != relay::RelayState::kStandby);
  }
  if (status_ && status_->store.figures && status_->store.figures->lease) {
    page.gauge("spillway_lease_epoch", "Number of the current ownership.", status_->store.figures->lease->lease.epoch);
  }
  for (const auto& [reason, count] : takeovers_) {
    page.counter("spillway_takeovers_total", "Times that this process took the outbox over.", count,
                 {{"reason", reason}});
  }
}

void Metrics::put_dependencies(Page& page) const {
  for (const auto& [name, calls] : calls_) {
    const Labels labels = {{"dependency", name.first}, {"operation", name.second}};
    for (const auto& [outcome, count] : calls.outcomes) {
      Labels with_outcome = labels;
      with_outcome.push_back({"outcome", outcome_name(outcome)});
      page.counter("spillway_dependency_requests_total", "Calls to what the relay depends on.", count, with_outcome);
    }
    page.histogram("spillway_dependency_duration_seconds", "How long they took.", calls.seconds, labels);
  }
  for (const auto& [dependency, calls] : in_flight_) {
    page.gauge("spillway_dependency_in_flight", "Calls that have not returned.", calls, {{"dependency", dependency}});
  }
}

void Metrics::put_own(Page& page, const ProcessFigures& process) const {
  page.gauge("spillway_config_last_reload_successful", "1 where the last reading of the configuration was taken.",
             config_successful_);
  page.gauge("spillway_config_last_reload_success_timestamp_seconds", "When one was last taken.",
             config_success_unix_s_);
  page.gauge("spillway_build_info", "Always 1.", 1,
             {{"version", build_.version}, {"revision", build_.revision}, {"compiler", build_.compiler}});
  page.gauge("spillway_http_clients", "Open HTTP connections.", http_clients_);
  page.counter("spillway_log_messages_dropped_total", "Log messages lost because the queue was full.", log_dropped_);
  if (process.cpu_seconds) {
    page.counter("process_cpu_seconds_total", "User and system CPU time spent.", *process.cpu_seconds);
  }
  page.gauge("process_start_time_seconds", "Start time of the process since the Unix epoch.", process.start_unix_s);
  page.gauge("process_resident_memory_bytes", "Resident memory size.", process.resident_bytes);
  page.gauge("process_virtual_memory_bytes", "Virtual memory size.", process.virtual_bytes);
  page.gauge("process_open_fds", "Open file descriptors.", process.open_fds);
  page.gauge("process_max_fds", "Limit of open file descriptors.", process.max_fds);
  page.gauge("process_threads", "Threads of the process.", process.threads);
}

std::string Metrics::render(Exposition exposition, const ProcessFigures& process) const {
  Page page;
  if (status_) {
    put_backlog(page);
    put_people(page);
    put_governor(page);
    put_signals(page);
  }
  put_flow(page);
  put_lease(page);
  put_dependencies(page);
  put_own(page, process);
  return exposition == Exposition::kText ? plain_text(page.families()) : open_metrics(page.families());
}

}  // namespace spillway::telemetry
