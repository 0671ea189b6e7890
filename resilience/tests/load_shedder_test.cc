#include <gtest/gtest.h>

#include "breaker_probe.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

TEST(LoadShedder, ShedsTheLeastImportantFirst) {
  LoadShedder shedder({});
  const auto admit = [&](std::uint32_t priority, std::uint32_t load) {
    return shedder.admit({.priority = priority, .load_percent = load});
  };
  EXPECT_EQ(admit(3, 59), Cause::kNone);
  EXPECT_EQ(admit(3, 60), Cause::kShedPriority);
  EXPECT_EQ(admit(7, 60), Cause::kShedPriority);
  EXPECT_EQ(admit(2, 60), Cause::kNone);
  EXPECT_EQ(admit(0, 99), Cause::kNone);
  EXPECT_EQ(admit(0, 100), Cause::kShedPriority);
  EXPECT_EQ(shedder.shed(), 3u);
}

TEST(LoadShedder, RefusesWhatCannotBeReadyInTime) {
  LoadShedder shedder({});
  shedder.served(milliseconds(80));
  EXPECT_EQ(shedder.expected_service(), milliseconds(80));
  const auto admit = [&](Deadline deadline) { return shedder.admit({.now = ms(0), .deadline = deadline}); };
  EXPECT_EQ(admit(Deadline::at(ms(80))), Cause::kNone);
  EXPECT_EQ(admit(Deadline::at(ms(79))), Cause::kShedDeadline);
  EXPECT_EQ(admit(Deadline::at(ms(0))), Cause::kExpiredBeforeStart);
  EXPECT_EQ(admit(Deadline::none()), Cause::kNone);
}

TEST(LoadShedder, ShedsOldRequestsOnlyWhileTheQueueStands) {
  LoadShedder shedder({});
  const auto admit = [&](Instant now, Duration age) { return shedder.admit({.now = now, .queued_since = now - age}); };
  // A burst: one request of the interval was served at once, so the queue does not stand.
  EXPECT_EQ(admit(ms(1000), milliseconds(40)), Cause::kNone);
  EXPECT_EQ(admit(ms(1050), milliseconds(0)), Cause::kNone);
  EXPECT_EQ(admit(ms(1100), milliseconds(40)), Cause::kNone);
  EXPECT_FALSE(shedder.overloaded());
  // A whole interval above the target: now the old ones go, the young ones stay.
  EXPECT_EQ(admit(ms(1150), milliseconds(40)), Cause::kNone);
  EXPECT_EQ(admit(ms(1200), milliseconds(40)), Cause::kShedQueueAge);
  EXPECT_TRUE(shedder.overloaded());
  EXPECT_EQ(admit(ms(1210), milliseconds(10)), Cause::kNone);
  EXPECT_EQ(admit(ms(1220), milliseconds(2)), Cause::kNone);
  EXPECT_EQ(admit(ms(1300), milliseconds(40)), Cause::kNone);
  EXPECT_FALSE(shedder.overloaded());
}

TEST(LoadShedder, LearnsTheServiceTimeInAPipeline) {
  ManualClock clock;
  LoadShedder shedder({});
  const auto guarded = pipeline_on(clock, shedder);
  guarded.call([&] {
    clock.sleep(milliseconds(30));
    return 1;
  });
  EXPECT_EQ(shedder.expected_service(), milliseconds(30));
  const auto hopeless = guarded.call([] { return 1; }, {.deadline = Deadline::after(clock.now(), milliseconds(20))});
  EXPECT_EQ(hopeless.cause(), Cause::kShedDeadline);
}

}  // namespace
}  // namespace spillway::resilience
