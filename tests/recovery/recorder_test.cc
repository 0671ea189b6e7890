#include "recovery/recorder.h"

#include <gtest/gtest.h>

#include "recovery/backlog.h"
#include "recovery/event_names.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

constexpr base::Instant kOrigin{100s};
constexpr std::int64_t kOriginMs = 1'700'000'000'000;

bank::Record record(const EventName& name, std::int64_t appended_ms) {
  bank::Record made;
  made.id = to_uuid(name);
  made.timestamp_ms = appended_ms;
  return made;
}

TEST(EventNames, SurviveTheirId) {
  for (const EventName& name : {EventName{false, 0}, EventName{true, 12'345'678}}) {
    EXPECT_EQ(event_name(to_uuid(name)), name);
  }
  EXPECT_EQ(event_name("7d444840-9dc0-11d1-b245-5ffdce74fad2"), std::nullopt);
}

TEST(BacklogSpec, DealsItsEventsOutInTurn) {
  const BacklogSpec spec{.topic = "t", .events = 10, .keys = 4};
  EXPECT_EQ(spec.events_of_key(0), 3);
  EXPECT_EQ(spec.events_of_key(1), 3);
  EXPECT_EQ(spec.events_of_key(2), 2);
  EXPECT_EQ(spec.events_of_key(3), 2);
}

TEST(Quantile, IsTheValueThatTheShareDoesNotExceed) {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(quantile(hundred, 0.99), 99);
  EXPECT_EQ(quantile({7}, 0.99), 7);
  EXPECT_EQ(quantile({}, 0.99), 0);
}

TEST(Quantile, LooksIntoTheTickWhereManyValuesAreEqual) {
  std::vector<double> waits(100, 6);
  EXPECT_DOUBLE_EQ(quantile_of_ticks(waits, 0.5, 1), 6);
  EXPECT_NEAR(quantile_of_ticks(waits, 0.99, 1), 6.49, 1e-9);
  for (int i = 0; i < 10; ++i) waits[static_cast<std::size_t>(i)] = 8;
  EXPECT_NEAR(quantile_of_ticks(waits, 0.99, 1), 8.4, 1e-9);
  EXPECT_EQ(quantile_of_ticks({}, 0.99, 1), 0);
}

TEST(Recorder, PutsAnswersIntoTheSecondOfTheirCompletion) {
  Recorder recorder(kOrigin, kOriginMs);
  recorder.on_answer({.at = kOrigin + 1999ms, .tag = 1, .latency = 300ms, .outcome = bank::Outcome::kDone});
  recorder.on_answer({.at = kOrigin + 1500ms, .tag = 0, .latency = 3s, .outcome = bank::Outcome::kTimedOut});
  recorder.on_answer({.at = kOrigin + 2000ms, .tag = 0, .latency = 0s, .outcome = bank::Outcome::kRefused});
  recorder.on_answer({.at = kOrigin - 1ms, .tag = 1, .latency = 9s, .outcome = bank::Outcome::kDone});
  const auto seconds = recorder.seconds(3);
  EXPECT_EQ(seconds[0].done + seconds[0].late, 0);
  EXPECT_EQ(seconds[1].done, 1);
  EXPECT_EQ(seconds[1].late, 1);
  EXPECT_DOUBLE_EQ(seconds[1].p99_s, 3);
  EXPECT_DOUBLE_EQ(seconds[1].live_p99_s, 0.3);
  EXPECT_EQ(seconds[2].late, 1);
  EXPECT_EQ(seconds[2].p99_s, 0);
}

TEST(Recorder, CountsFirstDeliveriesByTheTimeOfTheirAppend) {
  Recorder recorder(kOrigin, kOriginMs);
  recorder.on_delivery(record({true, 5}, kOriginMs + 1'200), true);
  recorder.on_delivery(record({true, 5}, kOriginMs + 2'200), false);
  recorder.on_delivery(record({false, 5}, kOriginMs + 1'300), true);
  const auto seconds = recorder.seconds(3);
  EXPECT_EQ(seconds[1].sent_live, 1);
  EXPECT_EQ(seconds[1].sent_backlog, 1);
  EXPECT_EQ(seconds[2].sent_live, 0);
  EXPECT_EQ(recorder.live_appended_ms(5), kOriginMs + 1'200);
  EXPECT_EQ(recorder.live_appended_ms(6), std::nullopt);
}

TEST(Recorder, KnowsWhenTheBacklogWasDone) {
  Recorder recorder(kOrigin, kOriginMs);
  recorder.on_done(record({false, 1}, 0), kOrigin + 4s);
  recorder.on_done(record({true, 1}, 0), kOrigin + 9s);
  recorder.on_done(record({false, 2}, 0), kOrigin + 3s);
  recorder.on_done(record({false, 2}, 0), kOrigin + 30s);
  EXPECT_EQ(recorder.backlog_done(), 2);
  EXPECT_DOUBLE_EQ(recorder.last_backlog_done_s(), 4);
}

}  // namespace
}  // namespace spillway::testing
