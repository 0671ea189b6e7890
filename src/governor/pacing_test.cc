#include "governor/pacing.h"

#include <gtest/gtest.h>

#include <limits>

#include "governor/drain_pacer.h"
#include "governor/fluid_plant_for_test.h"

namespace spillway::governor {
namespace {

constexpr long long kAll = 1'000'000;

// What `take` gives in ten seconds of refills every 20 ms.
template <typename AnyPacer, typename Take>
double in_ten_seconds(AnyPacer& pacer, Take take) {
  long long sent = 0;
  for (int i = 0; i <= 500; ++i) {
    pacer.refill(at(i * 0.02));
    sent += take();
  }
  return static_cast<double>(sent);
}

double sent_in_ten_seconds_at(double rate) {
  Pacer pacer;
  pacer.set_rate(rate);
  return in_ten_seconds(pacer, [&] { return pacer.take(kAll); });
}

TEST(Pacer, SendsItsRateOnAverage) { EXPECT_NEAR(sent_in_ten_seconds_at(800), 8000, 2); }

TEST(Pacer, LowRatesStillSendWholeEvents) { EXPECT_NEAR(sent_in_ten_seconds_at(2), 20, 1); }

TEST(Pacer, NeverSendsMoreThanFiftyMillisecondsOfRateAtOnce) {
  Pacer pacer;
  pacer.set_rate(1000);
  pacer.refill(at(0));
  pacer.refill(at(60));
  EXPECT_EQ(pacer.take(kAll), 50);
}

TEST(Pacer, SavesNothingUpWhilePaused) {
  Pacer pacer;
  pacer.set_rate(1000);
  pacer.refill(at(0));
  pacer.refill(at(0.04));
  pacer.pause();
  EXPECT_EQ(pacer.take(kAll), 0);
  pacer.refill(at(60));
  EXPECT_EQ(pacer.take(kAll), 0);
  pacer.refill(at(60.02));
  EXPECT_EQ(pacer.take(kAll), 20);
}

TEST(Pacer, TokensOfAHigherRateAreNotKept) {
  Pacer pacer;
  pacer.set_rate(10000);
  pacer.refill(at(0));
  pacer.refill(at(1));
  pacer.set_rate(100);
  EXPECT_EQ(pacer.take(kAll), 5);
  pacer.set_rate(0);
  EXPECT_EQ(pacer.take(kAll), 0);
}

TEST(Pacer, UnlimitedGrantsEverything) {
  Pacer pacer;
  pacer.set_rate(std::numeric_limits<double>::infinity());
  pacer.refill(at(0));
  EXPECT_EQ(pacer.take(kAll), kAll);
}

Decision decision(double total, double live, double budget) {
  Decision d;
  d.total_rate = total;
  d.live_rate = live;
  d.backlog_budget = budget;
  d.state = State::kTracking;
  return d;
}

// What the backlog may send beside `live_per_refill` live events every 20 ms.
double backlog_in_ten_seconds(DrainPacer& pacer, long long live_per_refill) {
  return in_ten_seconds(pacer, [&] {
    EXPECT_EQ(pacer.take_live(live_per_refill), live_per_refill) << "live never waits for a token";
    return pacer.take_backlog(kAll);
  });
}

TEST(DrainPacer, TheBacklogFillsUpToTheTotalWhateverLiveDoes) {
  DrainPacer pacer;
  pacer.apply(decision(2000, 1200, 800));
  EXPECT_NEAR(backlog_in_ten_seconds(pacer, 30), 5000, 100) << "live does 1,500/s, not 1,200/s";
}

TEST(DrainPacer, WhileBlindTheBacklogDoesNotTakeWhatLiveLeaves) {
  DrainPacer pacer;
  Decision d = decision(2000, 1200, 800);
  d.state = State::kBlind;
  pacer.apply(d);
  EXPECT_NEAR(backlog_in_ten_seconds(pacer, 0), 8000, 50);
}

TEST(DrainPacer, AFloorForTheBacklogHoldsBesideTooMuchLive) {
  DrainPacer pacer;
  pacer.apply(decision(2000, 2500, 30));
  EXPECT_NEAR(backlog_in_ten_seconds(pacer, 50), 300, 2);
}

TEST(DrainPacer, HoldsLiveOnlyUnderACap) {
  DrainPacer pacer;
  Decision d = decision(10, 1200, 0);
  d.live_cap = 10;
  pacer.apply(d);
  EXPECT_NEAR(in_ten_seconds(pacer, [&] { return pacer.take_live(24); }), 100, 2);
}

TEST(DrainPacer, APausedBacklogLeavesLiveAlone) {
  DrainPacer pacer;
  pacer.apply(decision(2000, 1200, 800));
  pacer.refill(at(0));
  pacer.refill(at(0.02));
  pacer.pause_backlog();
  EXPECT_EQ(pacer.take_live(100), 100);
  EXPECT_EQ(pacer.take_backlog(kAll), 0);
}

}  // namespace
}  // namespace spillway::governor
