// Cases about answers that do not come from running the operation: stale values and stored replies.
#include <gtest/gtest.h>

#include <expected>
#include <stdexcept>
#include <string>

#include "breaker_probe.h"
#include "spillway/resilience/fallback.h"
#include "spillway/resilience/idempotency.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::seconds;
using Reply = std::expected<int, std::string>;
constexpr auto kAlwaysStore = [](const auto&) { return true; };

TEST(ResilienceCase, S43_AFallbackSaysHowOldItsAnswerIs) {
  ManualClock clock;
  LastGood<int> last_good({.staleness = seconds(10)});
  const auto guarded = pipeline_on(clock, last_good);
  const auto fresh = guarded.call([]() -> Reply { return 42; });
  EXPECT_EQ(fresh.value(), 42);
  EXPECT_TRUE(fresh.fresh);

  const auto failing = []() -> Reply { return std::unexpected("down"); };
  clock.set(ms(3000));
  const auto stale = guarded.call(failing);
  EXPECT_EQ(stale.value(), 42);
  EXPECT_FALSE(stale.fresh);
  EXPECT_EQ(stale.age, seconds(3));

  clock.set(ms(11'000));
  const auto none = guarded.call(failing);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.failure().error, "down");
}

TEST(ResilienceCase, S44_AKeyRunsOnceAndThenAnswersFromTheStore) {
  ManualClock clock;
  MemoryIdempotencyStore<std::string> store;
  int runs = 0;
  const auto body = [&] { return "paid " + std::to_string(++runs); };

  const auto first = run_once<std::string>(
      store, "k", clock,
      [&] {
        const auto meanwhile = run_once<std::string>(store, "k", clock, body, kAlwaysStore);
        EXPECT_EQ(meanwhile.state, KeyState::kInProgress);
        EXPECT_EQ(runs, 0);
        return body();
      },
      kAlwaysStore);
  EXPECT_EQ(first.state, KeyState::kNew);
  EXPECT_EQ(first.reply, "paid 1");

  const auto again = run_once<std::string>(store, "k", clock, body, kAlwaysStore);
  EXPECT_EQ(again.state, KeyState::kDone);
  EXPECT_EQ(again.reply, "paid 1");
  EXPECT_EQ(runs, 1);

  const auto failing = [&]() -> std::string { throw std::runtime_error("bank down"); };
  EXPECT_THROW(run_once<std::string>(store, "f", clock, failing, kAlwaysStore), std::runtime_error);
  run_once<std::string>(store, "f", clock, body, [](const auto&) { return false; });
  EXPECT_EQ(run_once<std::string>(store, "f", clock, body, kAlwaysStore).state, KeyState::kNew);
  EXPECT_EQ(runs, 3);
}

TEST(IdempotencyStore, AHolderThatLostItsKeyCannotComplete) {
  MemoryIdempotencyStore<int> store({.hold = seconds(10)});
  const auto lost = store.begin("k", ms(0));
  EXPECT_EQ(store.begin("k", ms(9'999)).state, KeyState::kInProgress);
  const auto taken = store.begin("k", ms(10'000));
  EXPECT_EQ(taken.state, KeyState::kNew);
  EXPECT_FALSE(store.complete("k", lost.token, 1, ms(10'000)));
  EXPECT_FALSE(store.abandon("k", lost.token));
  EXPECT_TRUE(store.complete("k", taken.token, 2, ms(10'000)));
  EXPECT_EQ(store.begin("k", ms(10'000)).reply, 2);
}

TEST(IdempotencyStore, ForgetsTheOldestRepliesFirst) {
  MemoryIdempotencyStore<int> store({.capacity = 2, .keep = seconds(60)});
  for (const char* key : {"a", "b", "c"}) {
    store.complete(key, store.begin(key, ms(0)).token, 1, ms(0));
  }
  EXPECT_EQ(store.size(), 2u);
  EXPECT_EQ(store.begin("c", ms(59'999)).state, KeyState::kDone);
  EXPECT_EQ(store.begin("c", ms(60'000)).state, KeyState::kNew);
}

}  // namespace
}  // namespace spillway::resilience
