#include "sim/downstream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace spillway::sim {
namespace {

// Offers Poisson arrivals for `seconds` and returns the latencies of what completed.
std::vector<double> latencies(Downstream& downstream, Random& random, double rate, double seconds) {
  std::vector<double> arrived;
  std::vector<double> result;
  double next = random.exponential(1 / rate);
  while (next < seconds) {
    const double done = downstream.next_completion();
    if (done <= next) {
      const Completion c = downstream.complete();
      result.push_back(done - arrived[c.call]);
      continue;
    }
    arrived.push_back(next);
    downstream.arrive(next, static_cast<CallId>(arrived.size() - 1));
    next += random.exponential(1 / rate);
  }
  return result;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

TEST(Random, KeepsItsMeans) {
  Random random(1);
  double exponential = 0;
  double lognormal = 0;
  for (int i = 0; i < 200000; ++i) {
    exponential += random.exponential(0.05) / 200000;
    lognormal += random.lognormal(0.05, 0.8) / 200000;
  }
  EXPECT_NEAR(exponential, 0.05, 0.0005);
  EXPECT_NEAR(lognormal, 0.05, 0.001);
}

TEST(Fifo, AgreesWithTheFormulaForOneServer) {
  Random random(1);
  DownstreamSpec spec;
  spec.servers = 1;
  spec.service_mean_s = 0.01;
  const auto downstream = make_downstream(spec, random);
  // M/M/1: mean time in the system 1 / (mu - lambda).
  EXPECT_NEAR(mean(latencies(*downstream, random, 50, 20000)), 1.0 / (100 - 50), 0.001);
}

TEST(Fifo, DeliversNoMoreThanItsServersCan) {
  Random random(1);
  const auto downstream = make_downstream({}, random);
  EXPECT_NEAR(static_cast<double>(latencies(*downstream, random, 3000, 100).size()), 2000 * 100, 2000);
}

TEST(Fifo, FewerServersFinishWhatTheyHave) {
  Random random(1);
  DownstreamSpec spec;
  spec.servers = 2;
  const auto downstream = make_downstream(spec, random);
  for (CallId id = 0; id < 4; ++id) downstream->arrive(0, id);
  EXPECT_EQ(downstream->waiting(), 2u);
  downstream->change(0, {.at = 0, .servers = 1, .factor = {}, .service_mean_s = {}});
  downstream->complete();
  EXPECT_EQ(downstream->waiting(), 2u) << "the server that became free is gone";
  downstream->complete();
  EXPECT_EQ(downstream->waiting(), 1u);
}

TEST(Fifo, CompletesNothingInAPause) {
  Random random(1);
  const auto downstream = make_downstream({}, random);
  downstream->arrive(0, 0);
  downstream->pause(0, 60);
  downstream->arrive(1, 1);
  EXPECT_GE(downstream->next_completion(), 60);
}

TEST(Fifo, RefusesBeyondItsLimit) {
  Random random(1);
  DownstreamSpec spec;
  spec.servers = 1;
  spec.accept_limit = 2;
  const auto downstream = make_downstream(spec, random);
  EXPECT_TRUE(downstream->arrive(0, 0));
  EXPECT_TRUE(downstream->arrive(0, 1));
  EXPECT_FALSE(downstream->arrive(0, 2));
}

TEST(ProcessorSharing, DeliversItsPeakUnderOverload) {
  Random random(1);
  DownstreamSpec spec;
  spec.kind = DownstreamKind::kSharing;
  const auto downstream = make_downstream(spec, random);
  EXPECT_NEAR(static_cast<double>(latencies(*downstream, random, 2500, 50).size()), 2000 * 50, 1500);
}

TEST(ProcessorSharing, TakesItsServiceTimeWhenLightlyLoaded) {
  Random random(1);
  DownstreamSpec spec;
  spec.kind = DownstreamKind::kSharing;
  const auto downstream = make_downstream(spec, random);
  EXPECT_NEAR(mean(latencies(*downstream, random, 200, 500)), 0.05, 0.001);
}

TEST(Contention, GoodputFallsBeyondThePeak) {
  DownstreamSpec spec;
  spec.kind = DownstreamKind::kContention;
  const auto completed_with = [&](std::size_t in_service) {
    Random random(1);
    const auto downstream = make_downstream(spec, random);
    for (CallId id = 0; id < in_service; ++id) downstream->arrive(0, id);
    std::size_t completed = 0;
    for (double t = 0; (t = downstream->next_completion()) < 20; ++completed) {
      downstream->arrive(t, downstream->complete().call);
    }
    return static_cast<double>(completed) / 20;
  };
  EXPECT_NEAR(completed_with(250), 2000, 60);
  EXPECT_NEAR(completed_with(161), 1855, 60);
  EXPECT_LT(completed_with(800), 0.8 * 2000);
}

}  // namespace
}  // namespace spillway::sim
