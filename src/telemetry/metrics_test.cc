#include "telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/assemble.h"

namespace spillway::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string rendered(const Metrics& metrics) { return "\n" + metrics.render(Exposition::kText, {}); }

ports::Figures figures() {
  return {.waiting_rows = 1200, .oldest_age_s = 3.5, .waiting_bytes = 9000, .published = 800, .discarded = 5};
}

status::LiveFigures live() {
  status::LiveFigures live{.state = relay::RelayState::kRunning};
  live.rates = {.arrival = 100, .published = 50};
  return live;
}

TEST(Metrics, ShowTheStoresFigures) {
  Metrics metrics({.version = "1"});
  metrics.status(status::assemble({}, {.figures = figures()}, live()), 1'700'000'000);
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, HasSubstr("\nspillway_backlog_rows{lane=\"all\"} 1200\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_backlog_oldest_age_seconds{lane=\"all\"} 3.5\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_rows_arrived_total 2005\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_refresh_timestamp_seconds 1700000000\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_lease_held 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_paused{lane=\"backlog\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_state{state=\"idle\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("spillway_build_info{version=\"1\""));
}

TEST(Metrics, SplitTheLanesWhereTheRelayDoes) {
  Metrics metrics({});
  auto split = live();
  split.live = {.events = 200, .oldest_age_s = 0.5};
  metrics.status(status::assemble({}, {.figures = figures()}, split), {});
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_backlog_rows{lane=\"backlog\"} 1000\n"));
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_backlog_rows{lane=\"live\"} 200\n"));
}

TEST(Metrics, EmptyIsZeroAndUnknownIsAbsent) {
  Metrics metrics({});
  metrics.status(status::assemble({}, {.figures = ports::Figures{}}, std::nullopt), 5);
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_backlog_oldest_age_seconds{lane=\"all\"} 0\n"));
  EXPECT_THAT(rendered(metrics), Not(HasSubstr("spillway_lease_held")));

  metrics.status(status::assemble({}, {.error = "down"}, live()), {});
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, Not(HasSubstr("spillway_backlog_rows")));
  EXPECT_THAT(text, Not(HasSubstr("spillway_backlog_eta_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("spillway_refresh_timestamp_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("spillway_rows_published_total")));
}

TEST(Metrics, AnEtaOfNeverIsInfinite) {
  Metrics metrics({});
  ports::Figures growing = figures();
  growing.oldest_age_s = 60;
  metrics.status(status::assemble({}, {.figures = growing}, live()), {});
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_backlog_eta_seconds +Inf\n"));
}

TEST(Metrics, ArrivedNeverGoesBack) {
  Metrics metrics({});
  metrics.status(status::assemble({}, {.figures = figures()}, {}), {});
  ports::Figures fewer = figures();
  fewer.waiting_rows = 1100;
  fewer.estimated = true;
  metrics.status(status::assemble({}, {.figures = fewer}, {}), {});
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_rows_arrived_total 2005\n"));
}

TEST(Metrics, ShowTheRelaysCountersAndHistograms) {
  Metrics metrics({});
  relay::Histogram<2> publish(std::array{0.01, 0.1});
  publish.add(5ms);
  publish.add(50ms);
  publish.add(1s);
  metrics.relay({.published = 7, .published_bytes = 700}, Buckets::of(publish), Buckets::of(publish));
  metrics.publish_failures(PublishFailure::kTooLarge, 1);
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, HasSubstr("\nspillway_rows_published_total{lane=\"all\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_published_bytes_total{lane=\"all\"} 700\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_publish_failures_total{reason=\"too_large\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_publish_failures_total{reason=\"auth\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_publish_duration_seconds_bucket{le=\"0.1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_publish_duration_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_row_delay_seconds_count{lane=\"all\"} 3\n"));
}

TEST(Metrics, ShowEachLaneWhereTheRelayTellsThemApart) {
  Metrics metrics({});
  relay::Histogram<2> delay(std::array{0.01, 0.1});
  delay.add(5ms);
  metrics.relay({.published = 7, .published_bytes = 700}, Buckets::of(delay), Buckets::of(delay));
  metrics.lane("live", 4, 400, Buckets::of(delay));
  metrics.lane("promoted", 0, 0, Buckets::of(delay));
  metrics.lane("backlog", 3, 300, Buckets::of(delay));
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, HasSubstr("\nspillway_rows_published_total{lane=\"live\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_rows_published_total{lane=\"promoted\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_published_bytes_total{lane=\"backlog\"} 300\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_row_delay_seconds_count{lane=\"live\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("lane=\"all\"")));
}

TEST(Metrics, ShowTheGovernorItsSignalsAndWhatPeopleDid) {
  Metrics metrics({});
  auto steered = live();
  steered.governor = {.law = "adaptive",
                      .state = "braking",
                      .capacity = 1400,
                      .budget = 0,
                      .live_demand = 1200,
                      .others = 300,
                      .live_cap = 70,
                      .cause = "collapsed"};
  steered.signals = {{.name = "bank", .p99_ms = 412, .error_rate = 0.01, .age_s = 1, .ceiling_ms = 400}};
  ports::Figures limited = figures();
  limited.limit = {.max_total = 500, .reason = "r", .remaining = 60s};
  metrics.status(status::assemble({}, {.figures = limited}, steered), {});
  governor::DecisionLog log;
  log.observe(0, {.total_rate = 70, .live_cap = 70, .cause = {governor::CauseKind::kCollapsed, "bank", 0, 0, ""}});
  metrics.decisions(log.counts());
  metrics.triaged("settled", "discard", 12);
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_capacity_rows_per_second 1400\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_budget_rows_per_second 0\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_live_demand_rows_per_second 1200\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_others_rows_per_second 300\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_state{state=\"braking\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_state{state=\"tracking\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_governor_decisions_total{action=\"brake\",cause=\"collapsed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_signal_latency_seconds{signal=\"bank\",quantile=\"0.99\"} 0.412\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_signal_latency_ceiling_seconds{signal=\"bank\"} 0.4\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_signal_error_ratio{signal=\"bank\"} 0.01\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_signal_age_seconds{signal=\"bank\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_overrides_active 1\n"));
  EXPECT_THAT(text, HasSubstr("\nspillway_triage_decisions_total{rule=\"settled\",verdict=\"discard\"} 12\n"));
}

TEST(Metrics, ShowCallsToDependencies) {
  Metrics metrics({});
  metrics.called("store", "read", Outcome::kOk, 3ms);
  metrics.called("store", "read", Outcome::kTimeout, 6s);
  metrics.in_flight("store", 2);
  const std::string text = rendered(metrics);
  EXPECT_THAT(text, HasSubstr("spillway_dependency_requests_total{dependency=\"store\",operation=\"read\","
                              "outcome=\"timeout\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("spillway_dependency_duration_seconds_count{dependency=\"store\",operation=\"read\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("spillway_dependency_in_flight{dependency=\"store\"} 2\n"));
}

TEST(Metrics, AFailedReloadKeepsTheTimeOfTheLastGoodOne) {
  Metrics metrics({});
  metrics.config_loaded(true, 100);
  metrics.config_loaded(false, 200);
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_config_last_reload_successful 0\n"));
  EXPECT_THAT(rendered(metrics), HasSubstr("\nspillway_config_last_reload_success_timestamp_seconds 100\n"));
}

TEST(Metrics, ShowTheProcess) {
  const ProcessFigures process = read_process_figures();
  EXPECT_GT(process.resident_bytes.value_or(0), 1 << 20);
  EXPECT_GT(process.start_unix_s.value_or(0), 1e9);
  EXPECT_GT(process.open_fds.value_or(0), 2);
  const std::string text = Metrics({}).render(Exposition::kOpenMetrics, process);
  EXPECT_THAT(text, HasSubstr("\nprocess_cpu_seconds_total "));
  EXPECT_THAT(text, testing::EndsWith("# EOF\n"));
}

}  // namespace
}  // namespace spillway::telemetry
