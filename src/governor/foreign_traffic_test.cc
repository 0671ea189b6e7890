#include "governor/foreign_traffic.h"

#include <gtest/gtest.h>

#include "governor/fluid_plant_for_test.h"

namespace spillway::governor {
namespace {

// A downstream that answers what was sent `path_s` ago, and others beside it; one sample a second, four ticks.
struct Shared {
  explicit Shared(double dead_time_s = 3)
      : traffic(std::vector<SignalSpec>{{.name = "bank", .dead_time_s = dead_time_s}}) {}

  void run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      sent.push_back(ours);
      const double ago = static_cast<double>(sent.size()) - 1 - path_s;
      const double answered = (ago >= 0 ? sent[static_cast<std::size_t>(ago)] : 0) + others + drains;
      for (int tick = 1; tick <= 4; ++tick) {
        std::vector<SignalSample> samples;
        if (tick == 4) {
          samples.push_back({.covers_until = at(t + 1),
                             .completions = answered,
                             .good = answered * (1 - error_share),
                             .targets_answered = targets,
                             .targets_expected = 3});
        }
        found = traffic.tick(at(t + tick / 4.0), ours / 4, samples);
      }
      t += 1;
    }
  }

  ForeignTraffic traffic;
  double ours = 1000;
  double others = 0;
  double drains = 0;
  double error_share = 0;
  std::uint32_t targets = 3;
  double path_s = 1;
  std::vector<double> sent;
  double t = 0;
  double found = -1;
};

TEST(ForeignTraffic, IsWhatIsCompletedBeyondOurs) {
  Shared shared;
  shared.others = 300;
  shared.run(40);
  EXPECT_NEAR(shared.found, 300, 1);
}

TEST(ForeignTraffic, IsBelievedInOnceItHasShownInEveryCountForFifteenSeconds) {
  Shared shared;
  shared.run(30);
  shared.others = 300;
  shared.run(14);
  EXPECT_DOUBLE_EQ(shared.found, 0);
  shared.run(12);
  EXPECT_NEAR(shared.found, 300, 1);
}

TEST(ForeignTraffic, IsForgottenAsItLeaves) {
  Shared shared;
  shared.others = 300;
  shared.run(40);
  shared.others = 0;
  shared.run(10);
  EXPECT_DOUBLE_EQ(shared.found, 0);
}

TEST(ForeignTraffic, ARampOfOursIsNone) {
  Shared shared;
  for (shared.ours = 200; shared.ours < 2000; shared.ours *= 1.05) shared.run(1);
  EXPECT_DOUBLE_EQ(shared.found, 0);
  for (; shared.ours > 200; shared.ours *= 0.95) {
    shared.run(1);
    ASSERT_DOUBLE_EQ(shared.found, 0);
  }
}

TEST(ForeignTraffic, AQueueThatDrainsIsNone) {
  Shared shared;
  shared.run(30);
  shared.drains = 500;
  shared.run(2);
  shared.drains = 0;
  for (int i = 0; i < 20; ++i) {
    shared.run(1);
    ASSERT_DOUBLE_EQ(shared.found, 0);
  }
}

TEST(ForeignTraffic, CallsThatFailMayBeRetriesOfOurs) {
  Shared shared;
  shared.others = 300;
  shared.error_share = 0.05;
  shared.run(60);
  EXPECT_DOUBLE_EQ(shared.found, 0);
}

TEST(ForeignTraffic, IsNotCountedWhileATargetIsSilent) {
  Shared shared;
  shared.others = 300;
  shared.run(40);
  shared.targets = 2;
  shared.others = 0;
  shared.run(20);
  EXPECT_NEAR(shared.found, 300, 1) << "nothing was learnt meanwhile";
}

TEST(ForeignTraffic, IsNotSoughtWhereASignalDoesNotCountEvents) {
  ForeignTraffic traffic(std::vector<SignalSpec>{{.name = "probe", .counts_events = false}});
  double found = 0;
  for (int i = 1; i <= 60; ++i) {
    const std::vector<SignalSample> one = {{.covers_until = at(i), .completions = 100, .good = 100}};
    found = traffic.tick(at(i), 10, one);
  }
  EXPECT_DOUBLE_EQ(found, 0);
}

}  // namespace
}  // namespace spillway::governor
