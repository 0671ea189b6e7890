#include "bank/tellers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace spillway::bank {
namespace {

using namespace std::chrono_literals;
using Kind = Happening::Kind;

base::Instant at(base::Duration since_start) { return base::Instant(since_start); }

sim::DownstreamSpec servers(int count, double mean_s = 0.05) {
  sim::DownstreamSpec spec;
  spec.servers = count;
  spec.service_mean_s = mean_s;
  return spec;
}

std::map<Kind, int> counts(const std::vector<Happening>& happened) {
  std::map<Kind, int> found;
  for (const Happening& h : happened) ++found[h.kind];
  return found;
}

TEST(Tellers, AnswerEveryCallOnceInOrderOfTime) {
  Tellers tellers(servers(5), 1);
  for (Ticket i = 0; i < 200; ++i) tellers.call(at(10ms * static_cast<int>(i)), i, 10s);
  tellers.advance(at(1min));
  const auto happened = tellers.take();
  ASSERT_EQ(happened.size(), 200u);
  EXPECT_EQ(counts(happened)[Kind::kAnswered], 200);
  for (std::size_t i = 1; i < happened.size(); ++i) EXPECT_LE(happened[i - 1].at, happened[i].at);
  EXPECT_FALSE(tellers.next_event() && *tellers.next_event() <= at(1min));
}

TEST(Tellers, DeliverTheirCapacityHoweverSeldomTimeIsTold) {
  Tellers tellers(servers(25), 7);
  for (Ticket i = 0; i < 10'000; ++i) tellers.call(at(0s), i, 1h);
  tellers.advance(at(10s));
  EXPECT_NEAR(static_cast<double>(tellers.take().size()), 25 / 0.05 * 10, 300);
}

TEST(Tellers, GiveUpAtTheDeadlineAndDoTheWorkAllTheSame) {
  Tellers tellers(servers(1), 1);
  tellers.stop(at(0s));
  tellers.call(at(1s), 7, 2s);
  tellers.advance(at(3s));
  auto happened = tellers.take();
  ASSERT_EQ(happened.size(), 1u);
  EXPECT_EQ(happened[0].kind, Kind::kGivenUp);
  EXPECT_EQ(happened[0].at, at(3s));
  tellers.resume(at(5s));
  tellers.advance(at(20s));
  happened = tellers.take();
  ASSERT_EQ(happened.size(), 1u);
  EXPECT_EQ(happened[0].kind, Kind::kAnsweredLate);
  EXPECT_EQ(happened[0].ticket, 7u);
  EXPECT_GT(happened[0].latency, 4s);
}

TEST(Tellers, GoOnAfterAStopWhereTheyStood) {
  Tellers steady(servers(3), 5);
  Tellers stopped(servers(3), 5);
  for (Ticket i = 0; i < 50; ++i) {
    steady.call(at(0s), i, 1h);
    stopped.call(at(0s), i, 1h);
  }
  stopped.stop(at(100ms));
  stopped.advance(at(9s));
  stopped.resume(at(10'100ms));
  steady.advance(at(1min));
  stopped.advance(at(1min));
  const auto expected = steady.take();
  const auto found = stopped.take();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const base::Duration later = expected[i].at <= at(100ms) ? 0s : 10s;
    EXPECT_LE(std::chrono::abs(found[i].at - expected[i].at - later), 1us) << i;
  }
}

TEST(Tellers, TakeNoNewWorkWhereThereAreTooManyOfThem) {
  Tellers tellers(servers(10), 3);
  for (Ticket i = 0; i < 1'000; ++i) tellers.call(at(0s), i, 1h);
  tellers.change(at(0s), {.servers = 2});
  tellers.advance(at(5s));
  EXPECT_EQ(tellers.in_service(), 2u);
  EXPECT_NEAR(static_cast<double>(tellers.take().size()), 2 / 0.05 * 5, 60);
}

TEST(Tellers, SlowDownWithTheirService) {
  Tellers tellers(servers(10), 3);
  tellers.change(at(0s), {.service_mean_s = 0.5});
  for (Ticket i = 0; i < 1'000; ++i) tellers.call(at(0s), i, 1h);
  tellers.advance(at(20s));
  EXPECT_NEAR(static_cast<double>(tellers.take().size()), 10 / 0.5 * 20, 80);
}

TEST(Tellers, RefuseAtOnceBeyondTheirLimit) {
  auto spec = servers(1);
  spec.accept_limit = 3;
  Tellers tellers(spec, 1);
  tellers.stop(at(0s));
  for (Ticket i = 0; i < 5; ++i) tellers.call(at(1s), i, 1s);
  EXPECT_EQ(counts(tellers.take())[Kind::kRefused], 2);
  tellers.advance(at(10s));
  EXPECT_EQ(counts(tellers.take())[Kind::kGivenUp], 3);
}

TEST(Tellers, AnOldDeadlineDoesNotEndANewCall) {
  Tellers tellers(servers(1, 0.001), 1);
  tellers.call(at(0s), 1, 1s);
  tellers.advance(at(500ms));
  ASSERT_EQ(counts(tellers.take())[Kind::kAnswered], 1);
  tellers.stop(at(500ms));
  tellers.call(at(600ms), 2, 1h);
  tellers.advance(at(2s));
  EXPECT_TRUE(tellers.take().empty());
}

}  // namespace
}  // namespace spillway::bank
