#include "signals/latency_sketch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace spillway::signals {
namespace {

TEST(LatencySketch, NothingHasNoFigures) {
  const LatencySketch sketch;
  EXPECT_FALSE(sketch.mean_s() || sketch.quantile_s(0.99));
}

TEST(LatencySketch, WeighsByCount) {
  LatencySketch sketch;
  sketch.add(0.1, 99);
  sketch.add(2);
  EXPECT_NEAR(*sketch.mean_s(), 0.119, 1e-12);
  EXPECT_NEAR(*sketch.quantile_s(0.99), 0.1, 0.001);
  EXPECT_EQ(*sketch.quantile_s(1), 2);
}

RC_GTEST_PROP(LatencySketchProperty, APercentileIsNeverBelowTheTruthAndAtMostOnePercentAbove, ()) {
  const auto micros = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100'000'000)));
  std::vector<double> values;
  LatencySketch sketch;
  for (const int value : micros) {
    values.push_back(value * 1e-6);
    sketch.add(values.back());
  }
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(0.99 * static_cast<double>(values.size()))));
  const double exact = values[rank - 1];
  RC_ASSERT(*sketch.quantile_s(0.99) >= exact * (1 - 1e-9));
  RC_ASSERT(*sketch.quantile_s(0.99) <= exact * 1.011);
}

}  // namespace
}  // namespace spillway::signals
