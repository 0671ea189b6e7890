#include "recovery/recovery_rig.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "http/client.h"
#include "sim/ideal.h"
#include "sim/scenario_yaml.h"
#include "support/eventually.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kTopic = "recovery";
constexpr const char* kRetryTopic = "recovery.retry";
constexpr const char* kReconcileTopic = "outbox.reconcile";  // where the relay sends what a rule wants a person to see
constexpr int kPartitions = 6;
constexpr double kTickS = 1e-3;  // of the times of commit and append
constexpr auto kStatusPatience = 300ms;
constexpr std::int64_t kStartMs = 10'000;  // of the relay; what is committed before it reads belongs to the backlog

std::string relay_sections(const RigOptions& options, const std::vector<std::string>& urls) {
  const governor::GovernorSpec& governor = options.scenario.governor;
  const governor::SignalSpec& signal = governor.signals.front();
  return fmt::format(
      "lanes: {{live_age: {}ms, hold_live: {}}}\n"
      "governor: {{law: {}, min: {}, max: {}}}\n"
      "signals:\n"
      "  - {{name: bank, kind: prometheus, urls: [{}], every: 250ms, timeout: 250ms, dead_time: {}ms,\n"
      "     histogram: bank_call_seconds, errors: bank_call_errors_total, latency_ceiling: {}ms,\n"
      "     error_ceiling: {}%, tolerance: {}%}}\n"
      "{}",
      options.live_age.count(), governor.hold_live ? "on_collapse" : "never", options.law, governor.min,
      governor.max ? fmt::format("{}", *governor.max) : "none", fmt::join(urls, ", "),
      options.scenario.dead_time_s() * 1e3, signal.latency_ceiling_s * 1e3, signal.error_ceiling * 100,
      signal.tolerance * 100, options.triage);
}

std::optional<double> number(const nlohmann::json& section, const char* name) {
  const auto found = section.find(name);
  if (found == section.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const nlohmann::json& section, const char* name) {
  const auto found = section.find(name);
  return found != section.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

sim::Scenario scenario_file(const std::string& name) {
  const auto found = sim::find_scenarios(std::string(SPILLWAY_RECOVERY_SCENARIOS) + "/" + name, {});
  if (!found) throw std::runtime_error(found.error().message);
  return found->front();
}

RecoveryRig::RecoveryRig(RigOptions options)
    : options_(std::move(options)),
      backlog_{.topic = kTopic,
               .events = static_cast<std::int64_t>(options_.scenario.backlog),
               .keys = std::max<std::int64_t>(
                   2, static_cast<std::int64_t>(options_.scenario.backlog) / options_.events_per_key),
               .types = options_.backlog_types} {
  // The append's own time is the acknowledgement's, but for the way back.
  const std::map<std::string, std::string> append_time = {{"message.timestamp.type", "LogAppendTime"}};
  broker_.create_topic(kTopic, kPartitions, append_time);
  broker_.create_topic(kRetryTopic, kPartitions, append_time);
  broker_.create_topic(kReconcileTopic);
  bank_.emplace(bank::BankOptions{.downstream = options_.scenario.downstream,
                                  .seed = 1,
                                  .targets = options_.targets,
                                  .on_answer = [this](const bank::Answer& answer) {
                                    if (recorder_) recorder_->on_answer(answer);
                                  }});
  relay_.emplace(RelaySettings{.store = server_.uri(),
                               .bootstrap = broker_.bootstrap(),
                               .more = relay_sections(options_, bank_->metrics_urls())});
  relay_->init();
  fill(server_.uri(), backlog_);
  server_.execute("analyze spillway.outbox");
  start_consumer();
  // The outage itself: by now the relay would have been behind for longer than live_age.
  if (backlog_.events > 0) std::this_thread::sleep_for(options_.live_age + 500ms);
  plan_scenario();
}

RecoveryRig::~RecoveryRig() {
  if (consumer_) consumer_->stop();
}

void RecoveryRig::at(double seconds, std::function<void()> action) { actions_.push_back({seconds, std::move(action)}); }

void RecoveryRig::plan_span(const std::vector<sim::Span>& spans, const std::function<void()>& begin,
                            const std::function<void()>& end) {
  for (const sim::Span& span : spans) {
    at(span.from, begin);
    at(span.until, end);
  }
}

void RecoveryRig::plan_scenario() {
  using bank::EndpointFault;
  const sim::Scenario& s = options_.scenario;
  for (const sim::Change& change : s.changes) {
    at(change.at, [this, change] { bank_->change(change); });
  }
  plan_span(
      s.pauses, [this] { bank_->stop(); }, [this] { bank_->resume(); });
  const auto mended = [this] { spoil_signal(EndpointFault::kNone); };
  plan_span(
      s.signal.missing, [this] { spoil_signal(EndpointFault::kRefuses); }, mended);
  plan_span(
      s.signal.frozen, [this] { spoil_signal(EndpointFault::kFrozen); }, mended);
  plan_span(
      s.signal.not_a_number, [this] { spoil_signal(EndpointFault::kNotANumber); }, mended);
  plan_span(
      s.signal.target_silent, [this] { spoil_half_of_the_signal(EndpointFault::kRefuses); }, mended);
  for (const double restart : s.relay_restarts) {
    at(restart, [this] {
      relay_->kill9();
      relay_->start();
    });
  }
}

void RecoveryRig::spoil_signal(bank::EndpointFault fault) {
  for (int target = 0; target < options_.targets; ++target) bank_->set_fault(target, fault);
}

void RecoveryRig::spoil_half_of_the_signal(bank::EndpointFault fault) {
  for (int target = 0; target < options_.targets / 2; ++target) bank_->set_fault(target, fault);
}

double RecoveryRig::now_s() const { return std::chrono::duration<double>(Clock::now() - origin_).count(); }

void RecoveryRig::start_consumer() {
  const sim::ClientSpec& client = options_.scenario.client;
  const auto span = [](double seconds) {
    return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds));
  };
  bank::ConsumerOptions consumer{.feed = {.bootstrap = broker_.bootstrap(), .topic = kTopic},
                                 .in_hand = options_.in_hand,
                                 .timeout = span(client.timeout_s),
                                 .retries = client.live_retries,
                                 .retry_pause = span(client.retry_jitter_s)};
  if (options_.retry_topic) consumer.feed.retry_topic = kRetryTopic;
  consumer.tag_of = Recorder::tag_of;
  consumer.on_delivery = [this](const bank::Record& record, bool first) { recorder_->on_delivery(record, first); };
  consumer.on_done = [this](const bank::Record& record, base::Instant at) { recorder_->on_done(record, at); };
  consumer_.emplace(*bank_, std::move(consumer));
  // One that is let in only after the first records would meet the bank with all of them at once.
  if (!eventually([&] { return consumer_->figures().partitions > 0; }, 60s)) {
    throw std::runtime_error("the consumer's group does not let it in");
  }
}

void RecoveryRig::play(double limit_s, bool until_clear) {
  std::ranges::stable_sort(actions_, {}, &Action::at);
  origin_ = Clock::now();
  recorder_.emplace(
      base::Instant(origin_.time_since_epoch()),
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()).time_since_epoch().count());
  relay_->start();
  writer_.emplace(LiveWriterOptions{.uri = server_.uri(),
                                    .topic = kTopic,
                                    .live = options_.scenario.live,
                                    .backlog = backlog_,
                                    .on_backlog_keys = options_.on_backlog_keys});
  auto next = actions_.begin();
  for (double sample_at = 1; now_s() < limit_s && !(until_clear && clear());) {
    for (; next != actions_.end() && next->at <= now_s(); ++next) next->what();
    if (now_s() >= sample_at) sample(sample_at++);
    const double wake = std::min(sample_at, next == actions_.end() ? sample_at : next->at);
    std::this_thread::sleep_until(origin_ + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(std::min(wake, now_s() + 0.05))));
  }
  played_s_ = now_s();
}

void RecoveryRig::sample(double at) {
  count_settled();
  StatusSample sample{.at = at};
  sample.bank_waiting = bank_->figures().waiting;
  const auto answer = http::get(fmt::format("http://127.0.0.1:{}/api/status", relay_->http_port()), kStatusPatience);
  if (answer && answer->status == 200) {
    const auto status = nlohmann::json::parse(answer->body, nullptr, false);
    const auto section = [&](const char* name) {
      return status.is_object() && status.contains(name) ? status[name] : nlohmann::json::object();
    };
    sample.backlog = number(section("backlog"), "events");
    sample.capacity = number(section("governor"), "capacity");
    sample.budget = number(section("governor"), "budget");
    sample.state = text(section("governor"), "state");
    sample.reason = text(section("governor"), "reason");
  }
  statuses_.push_back(std::move(sample));
}

void RecoveryRig::count_settled() {
  if (options_.triage.empty()) return;
  settled_ =
      std::stoll(server_.value("select count(*) from spillway.settled where verdict in ('discard', 'reconcile')"));
}

bool RecoveryRig::clear() const {
  return backlog_.events > 0 && recorder_->backlog_done() + settled_ >= backlog_.events;
}

RecoveryReport RecoveryRig::finish(std::chrono::seconds patience) {
  RecoveryReport report;
  report.scenario = options_.scenario.name;
  writer_->finish();
  const auto everything_came = [&] {
    count_settled();
    return consumer_->figures().unique >= backlog_.events + writer_->committed() - settled_;
  };
  eventually(everything_came, patience, 100ms);
  relay_->stop();
  consumer_->stop();
  if (clear()) report.clear_s = recorder_->last_backlog_done_s();
  if (backlog_.events > 0) report.ideal_s = sim::ideal_seconds(options_.scenario);
  report.consumer = consumer_->figures();
  report.inversions = report.consumer.inversions;
  report.duplicates = report.consumer.duplicates;
  report.attempts_per_event = static_cast<double>(report.consumer.calls) /
                              static_cast<double>(std::max<std::int64_t>(1, report.consumer.unique));
  report.lost = count_lost();
  report.seconds = recorder_->seconds(static_cast<std::size_t>(played_s_));
  report.statuses = statuses_;
  measure_ceiling(report);
  measure_live(report);
  std::cout << to_text(report) << std::flush;
  if (const char* folder = std::getenv("SPILLWAY_RECOVERY_TRACE")) {
    write_trace(report, std::filesystem::path(folder) / (report.scenario + ".csv"));
  }
  return report;
}

void RecoveryRig::measure_ceiling(RecoveryReport& report) const {
  const double ceiling = options_.scenario.governor.signals.front().latency_ceiling_s;
  for (const SecondSeen& second : report.seconds) {
    if (second.live_p99_s > ceiling) report.seconds_over += 1;
    report.worst_p99_s = std::max(report.worst_p99_s, second.live_p99_s);
  }
}

void RecoveryRig::measure_live(RecoveryReport& report) const {
  std::vector<double> waits;
  for (const Commit& commit : writer_->commits()) {
    const auto appended = recorder_->live_appended_ms(commit.number);
    if (!appended || commit.at_ms < recorder_->origin_ms() + kStartMs) continue;
    const double wait = std::max(0.0, static_cast<double>(*appended - commit.at_ms) / 1e3);
    double& longest = commit.on_backlog_key ? report.longest_promoted_hold_s : report.longest_hold_s;
    longest = std::max(longest, wait);
    if (!commit.on_backlog_key) waits.push_back(wait);
  }
  report.live_measured = std::ssize(waits);
  report.live_p99_s = quantile_of_ticks(std::move(waits), 0.99, kTickS);
}

// Committed, and neither delivered nor settled.
std::int64_t RecoveryRig::count_lost() const {
  std::vector<std::string> ids;
  for (auto& row :
       server_.execute("select o.id::text from spillway.outbox o where not exists (select from "
                       "spillway.settled s where s.seq = o.seq and s.verdict in ('discard', 'reconcile'))")) {
    ids.push_back(std::move(*row[0]));
  }
  return consumer_->inbox().missing(ids);
}

}  // namespace spillway::testing
