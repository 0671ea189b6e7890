// `spillway plan`: how long a recovery takes, what a loss of capacity costs, and what each governor makes of it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace spillway::app {

struct PlanFigure {
  PlanFigure(double figure = 0, std::string from = "given") : value(figure), origin(std::move(from)) {}

  double value;
  std::string origin;
};

struct PlanOptions {
  PlanFigure backlog{};   // events
  PlanFigure capacity{};  // events/s in total
  PlanFigure live{};      // events/s
  double latency_ceiling_s = 0.4;
  std::vector<std::string> laws = {"adaptive", "aimd", "gradient"};  // simulated; none: arithmetic alone
  std::uint64_t seed = 1;
  bool json = false;
};

// 0, also where nothing waits; 2 where the figures are wrong; 3 where the backlog never clears at these figures.
int run_plan(const PlanOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
