#include "governor/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "governor/blind.h"
#include "governor/fluid_plant_for_test.h"
#include "governor/live_rate.h"
#include "governor/shared_rate.h"

namespace spillway::governor {
namespace {

using testing::HasSubstr;
using testing::Le;
using namespace std::chrono_literals;

GovernorSpec with_law(LawKind law) {
  GovernorSpec spec = one_signal();
  spec.law = law;
  return spec;
}

TEST(Aimd, AddsFiftyASecondWhileHealthyAndHalvesTheTotalWhenSlow) {
  FluidLoop loop(with_law(LawKind::kAimd));
  loop.run(1);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 1200) << "starts at live";
  loop.run(4);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 1400);
  SignalSample slow = loop.truth();
  slow.p99_s = 0.41;
  loop.instead = slow;
  loop.instead->covers_until = {};
  loop.run(1);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 700);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 0) << "half of the total is nothing for the backlog";
  EXPECT_EQ(loop.last().cause.kind, CauseKind::kLatency);
}

TEST(Aimd, HalvesForErrorsAndKeepsItsBounds) {
  FluidLoop loop(with_law(LawKind::kAimd));
  loop.error_share = 0.03;
  loop.run(20);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 50);
  loop.error_share = 0;
  loop.capacity = 1e6;
  loop.run(120);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 3000);
}

TEST(Aimd, StaysWhereItIsWithoutASignal) {
  FluidLoop loop(with_law(LawKind::kAimd));
  loop.run(5);
  const double total = loop.last().total_rate;
  loop.lose_signal = true;
  loop.run(30);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, total);
}

TEST(Gradient, SettlesNearTheCapacity) {
  FluidLoop loop(with_law(LawKind::kGradient));
  loop.run(200);
  EXPECT_NEAR(loop.last().total_rate, 2000, 200);
}

TEST(Fixed, SendsItsRateLiveIncluded) {
  GovernorSpec spec = with_law(LawKind::kFixed);
  spec.fixed_rate = 1500;
  FluidLoop loop(spec);
  loop.run(1);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 1500);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 300);
}

TEST(Unlimited, IgnoresMinAndMax) {
  FluidLoop loop(with_law(LawKind::kUnlimited));
  loop.run(1);
  EXPECT_TRUE(std::isinf(loop.last().backlog_budget));
  EXPECT_THAT(text(loop.last()), HasSubstr("unlimited"));
}

TEST(Unlimited, IsTheLawWhereThereIsNothingToSteerByAndItSaysSo) {
  GovernorSpec spec;
  Governor governor(spec);
  const Decision& d = governor.tick(at(0), {.live_rate = 10});
  EXPECT_TRUE(std::isinf(d.total_rate));
  EXPECT_EQ(d.cause.kind, CauseKind::kNoSignals);
}

TEST(Check, SaysEveryFaultAtOnce) {
  GovernorSpec spec = one_signal();
  spec.min = 5000;
  spec.signals[0].latency_ceiling_s = 0;
  const auto status = check(spec);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_THAT(status.error().message, HasSubstr("governor.min 5000 is above governor.max 3000"));
  EXPECT_THAT(status.error().message, HasSubstr("latency_ceiling must be above 0"));
}

TEST(Check, AcceptsTheDefaults) { EXPECT_TRUE(check(one_signal())); }

TEST(ParseLaw, NamesTheLawsThatThereAre) {
  EXPECT_EQ(parse_law("gradient").value(), LawKind::kGradient);
  EXPECT_THAT(parse_law("pid").error().message, HasSubstr("adaptive, aimd, gradient, fixed and unlimited"));
}

TEST(Override, BindsUntilItExpires) {
  FluidLoop loop(one_signal());
  loop.run(60);
  loop.governor().set_override(make_override(at(loop.now()), 1300, 10s, "month end").value());
  loop.run(5);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 1300);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 100);
  EXPECT_EQ(loop.last().state, State::kManual);
  EXPECT_THAT(text(loop.last()), HasSubstr("month end"));
  loop.run(30);
  EXPECT_NE(loop.last().state, State::kManual);
  EXPECT_THAT(loop.last().total_rate, testing::Ge(1800));
}

TEST(Override, NeverRaisesTheRate) {
  FluidLoop loop(one_signal());
  loop.run(60);
  loop.governor().set_override(make_override(at(loop.now()), 1e6, 10min, "hurry").value());
  loop.run(5);
  EXPECT_THAT(loop.last().total_rate, Le(3000));
  EXPECT_NE(loop.last().state, State::kManual);
}

TEST(Override, HoldKeepsThePresentRateAsTheLimit) {
  FluidLoop loop(one_signal());
  loop.run(60);
  const double total = loop.last().total_rate;
  ASSERT_TRUE(loop.governor().hold(at(loop.now()), 5min, "watching"));
  loop.capacity = 3000;
  loop.run(60);
  EXPECT_THAT(loop.last().total_rate, Le(total + 1e-9));
}

TEST(Override, NeedsAReasonAndAnEnd) {
  EXPECT_TRUE(make_override(at(0), 1, 24h, "r"));
  EXPECT_FALSE(make_override(at(0), 1, 24h + 1s, "r"));
  EXPECT_FALSE(make_override(at(0), 1, 0s, "r"));
  EXPECT_FALSE(make_override(at(0), -1, 1h, "r"));
  EXPECT_FALSE(make_override(at(0), 1, 1h, ""));
}

TEST(Observing, ComputesAndReportsButSendsAtAFixedRate) {
  GovernorSpec spec = one_signal();
  spec.observe = true;
  spec.fixed_rate = 1500;
  FluidLoop loop(spec);
  loop.run(60);
  EXPECT_DOUBLE_EQ(loop.last().total_rate, 1500);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 300);
  EXPECT_EQ(loop.last().cause.kind, CauseKind::kObserving);
  EXPECT_THAT(text(loop.last()), HasSubstr("the law would allow"));
}

TEST(Governor, IsIdleWhereNothingWaits) {
  Governor governor(one_signal());
  EXPECT_EQ(governor.tick(at(0), {.live_rate = 10, .backlog_waiting = false}).state, State::kIdle);
}

TEST(Governor, TrafficOfOthersIsLeftItsShareAndIsNotOurs) {
  GovernorSpec spec = with_law(LawKind::kFixed);
  spec.fixed_rate = 2000;
  Governor governor(spec);
  const Decision& d = governor.tick(at(0), {.live_rate = 700, .foreign_rate = 500});
  EXPECT_DOUBLE_EQ(d.total_rate, 1500);
  EXPECT_DOUBLE_EQ(d.live_rate, 700);
  EXPECT_DOUBLE_EQ(d.backlog_budget, 800);
}

TEST(SharedRate, DecaysLikeAStaleSignalOnceItExpires) {
  SharedRate share;
  EXPECT_DOUBLE_EQ(share.at(at(0)), 0);
  share.grant(500, at(10));
  EXPECT_DOUBLE_EQ(share.at(at(9)), 500);
  EXPECT_DOUBLE_EQ(share.at(at(11)), 465);
  EXPECT_DOUBLE_EQ(share.at(at(1000)), 20);
}

TEST(Decay, NeverRaisesARateBelowTheTrickle) { EXPECT_DOUBLE_EQ(decay(5, 100), 5); }

TEST(LiveRate, FollowsAStepWithinSeconds) {
  LiveRate rate(1000);
  for (int i = 0; i < 40; ++i) rate.add(500, 0.25);
  EXPECT_NEAR(rate.value(), 2000, 10);
  EXPECT_DOUBLE_EQ(rate.add(1e9, 0), rate.value()) << "no time, no rate";
}

TEST(Text, GroupsDigitsAndNamesTheOwner) {
  Decision d;
  d.backlog_budget = 1234567;
  d.cause = {CauseKind::kLatency, "bank", 0.412, 0.4, ""};
  EXPECT_EQ(text(d), "backlog 1,234,567/s: bank p99 412 ms >= 400 ms");
}

}  // namespace
}  // namespace spillway::governor
