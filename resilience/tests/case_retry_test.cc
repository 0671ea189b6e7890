#include <gtest/gtest.h>

#include <expected>
#include <string>
#include <vector>

#include "breaker_probe.h"
#include "spillway/resilience/deadline_header.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct BankError {
  std::string text;
  bool never_sent = false;
  std::optional<Duration> retry_after{};
};
Judgement judge(const BankError& error) { return {.never_sent = error.never_sent, .retry_after = error.retry_after}; }
using BankReply = std::expected<int, BankError>;

const CallOptions kIdempotent{.idempotent = true};
constexpr auto kHalf = [] { return 0.5; };

RetrySettings attempts(std::uint32_t n) {
  return {.attempts = n, .backoff = {.base = milliseconds(100), .factor = 2, .cap = milliseconds(1000)}};
}

// Notes when it ran and fails each time.
struct Failing {
  ManualClock* clock;
  BankError error{"no answer"};
  std::vector<Instant> runs{};
  BankReply operator()() {
    runs.push_back(clock->now());
    BankError numbered = error;
    numbered.text += " " + std::to_string(runs.size());
    return std::unexpected(numbered);
  }
};

TEST(ResilienceCase, S24_RunsExactlyAsOftenAsAllowedAndReturnsTheLastError) {
  ManualClock clock;
  Failing body{&clock};
  Retry retry(attempts(3), kHalf);
  const auto answer = pipeline_on(clock, retry).call(body, kIdempotent);
  EXPECT_EQ(body.runs.size(), 3u);
  EXPECT_EQ(answer.attempts, 3u);
  EXPECT_EQ(answer.failure().error->text, "no answer 3");
  EXPECT_EQ(answer.stopped_by, Cause::kAttemptsExhausted);
}

TEST(ResilienceCase, S25_StopsAtOnceWhenTheNextDelayDoesNotFit) {
  ManualClock clock;
  Failing body{&clock};
  RetrySettings settings = attempts(5);
  settings.backoff = {.base = milliseconds(1000), .factor = 2, .cap = seconds(60), .jitter = Jitter::kNone};
  settings.total_time = milliseconds(2500);
  Retry retry(settings, kHalf);
  const auto answer = pipeline_on(clock, retry).call(body, kIdempotent);
  EXPECT_EQ(body.runs, (std::vector{ms(0), ms(1000)}));
  EXPECT_EQ(clock.now(), ms(1000));
  EXPECT_EQ(answer.stopped_by, Cause::kNoTimeLeft);
}

TEST(ResilienceCase, S26_RepeatsWhatIsNotIdempotentOnlyIfItWasNeverSent) {
  ManualClock clock;
  Failing body{&clock};
  Retry retry(attempts(3), kHalf);
  const auto guarded = pipeline_on(clock, retry);
  EXPECT_EQ(guarded.call(body).stopped_by, Cause::kNotIdempotent);
  EXPECT_EQ(body.runs.size(), 1u);

  Failing unsent{&clock, {"no connection", true}};
  guarded.call(unsent);
  EXPECT_EQ(unsent.runs.size(), 3u);
}

TEST(ResilienceCase, S27_WaitsAsLongAsTheOtherSideAsks) {
  ManualClock clock;
  Failing body{&clock};
  Retry retry(attempts(2), kHalf);
  body.error.retry_after = parse_retry_after("2", {});
  pipeline_on(clock, retry).call(body, kIdempotent);
  EXPECT_EQ(body.runs, (std::vector{ms(0), ms(2000)}));
}

TEST(ResilienceCase, S28_ARetryAfterBeyondTheTotalTimeStopsAndAMalformedOneIsAbsent) {
  ManualClock clock;
  Failing body{&clock};
  RetrySettings settings = attempts(2);
  settings.total_time = milliseconds(1500);
  Retry retry(settings, kHalf);
  const auto guarded = pipeline_on(clock, retry);
  body.error.retry_after = parse_retry_after("2", {});
  EXPECT_EQ(guarded.call(body, kIdempotent).stopped_by, Cause::kNoTimeLeft);
  EXPECT_EQ(body.runs.size(), 1u);
  EXPECT_EQ(clock.now(), ms(0));

  for (const char* text : {"-5", "abc", "", "1.5x"}) {
    clock.set(ms(0));
    Failing malformed{&clock, {"busy", false, parse_retry_after(text, {})}};
    guarded.call(malformed, kIdempotent);
    EXPECT_EQ(malformed.runs, (std::vector{ms(0), ms(50)})) << text;
  }
}

TEST(ResilienceCase, S29_AnOpenBreakerIsNotRetried) {
  ManualClock clock;
  Failing body{&clock};
  RetryBudget budget({.capacity = 10, .ratio = 0.1});
  Retry retry(attempts(3), kHalf, &budget);
  CircuitBreaker breaker({}, ms(0));
  breaker.force_open(ms(0));
  const auto answer = pipeline_on(clock, retry, breaker).call(body, kIdempotent);
  EXPECT_TRUE(body.runs.empty());
  EXPECT_EQ(answer.attempts, 1u);
  EXPECT_EQ(answer.cause(), Cause::kBreakerForcedOpen);
  EXPECT_EQ(clock.now(), ms(0));
  EXPECT_EQ(budget.balance(), 5000);
}

TEST(ResilienceCase, S30_AnInnerBreakerSeesEveryAttemptAndAnOuterOneTheCall) {
  ManualClock clock;
  Failing body{&clock};
  Retry retry(attempts(3), kHalf);
  CircuitBreaker inner({}, ms(0));
  const auto usual = pipeline_on(clock, retry, inner);
  usual.call(body, kIdempotent);
  EXPECT_EQ(inner.rates(clock.now()).counts.failed, 3u);
  EXPECT_TRUE(usual.warnings().empty());

  CircuitBreaker outer({}, ms(0));
  const auto unusual = pipeline_on(clock, outer, retry);
  unusual.call(body, kIdempotent);
  EXPECT_EQ(outer.rates(clock.now()).counts.failed, 1u);
  EXPECT_EQ(outer.rates(clock.now()).counts.total, 1u);
  ASSERT_EQ(unusual.warnings().size(), 1u);
  EXPECT_TRUE(unusual.warnings()[0].starts_with("retry inside the breaker"));
}

TEST(ResilienceCase, S36_ARefusedBudgetReturnsTheOwnErrorAtOnce) {
  ManualClock clock;
  Failing body{&clock};
  RetryBudget budget({.capacity = 1, .ratio = 0.1});
  Retry retry(attempts(3), kHalf, &budget);
  const auto answer = pipeline_on(clock, retry).call(body, kIdempotent);
  EXPECT_EQ(answer.cause(), Cause::kOperation);
  EXPECT_EQ(answer.failure().error->text, "no answer 1");
  EXPECT_EQ(answer.stopped_by, Cause::kBudgetExhausted);
  EXPECT_EQ(clock.now(), ms(0));
  EXPECT_EQ(budget.balance(), 500);
}

TEST(ResilienceCase, S41_AnExpiredHeaderRunsNothingAndAMalformedOneIsAbsent) {
  ManualClock clock;
  DeadlineReader reader(seconds(3600));
  int outgoing = 0;
  CircuitBreaker breaker({}, ms(0));
  const auto guarded = pipeline_on(clock, breaker);
  const auto handler = [&] { return ++outgoing; };
  const auto expired = guarded.call(handler, {.deadline = reader.read("0", clock.now())});
  EXPECT_EQ(expired.cause(), Cause::kExpiredBeforeStart);
  EXPECT_EQ(outgoing, 0);
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 0u);

  std::uint64_t malformed = 0;
  for (const char* text : {"-1", "+5", "1e3", " 7", "abc", ""}) {
    const Deadline deadline = reader.read(text, clock.now());
    EXPECT_TRUE(deadline.is_none()) << text;
    EXPECT_EQ(reader.malformed(), ++malformed) << text;
  }
  EXPECT_EQ(reader.read("99999999999999999999", ms(0)), Deadline::at(ms(3'600'000)));
}

TEST(RetryAfter, ReadsSecondsAndHttpDates) {
  using std::chrono::sys_days;
  const std::chrono::sys_seconds noon = sys_days(std::chrono::year(1994) / 11 / 6) + std::chrono::hours(8);
  EXPECT_EQ(parse_retry_after("120", noon), seconds(120));
  EXPECT_EQ(parse_retry_after("99999999999999999999999", noon), kLongestTime);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:00:37 GMT", noon), seconds(37));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 07:00:37 GMT", noon), seconds(0));
  for (const char* text : {"Sun, 06 Nov 1994 08:00:37 CET", "Sun, 36 Nov 1994 08:00:37 GMT", "soon", "1 "}) {
    EXPECT_FALSE(parse_retry_after(text, noon).has_value()) << text;
  }
}

}  // namespace
}  // namespace spillway::resilience
