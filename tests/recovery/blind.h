// What must hold while the signal cannot be trusted: nothing goes faster than it did when it last could.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "recovery/recovery_report.h"

namespace spillway::testing {

// Against the twenty seconds before. The tenth above is the noise of live: what it leaves of the total goes to the
// backlog until the fault is seen.
inline void expect_no_rise(const RecoveryReport& report, const std::string& fault, double from, double until) {
  constexpr double kBefore = 20;
  constexpr double kNoise = 1.1;
  const double backlog_before = report.highest_backlog_rate(from - kBefore, from);
  const double total_before = report.highest_total_rate(from - kBefore, from);
  double budget_before = 0;
  double budget_during = 0;
  for (const StatusSample& s : report.statuses) {
    if (s.at > from - kBefore && s.at <= from) budget_before = std::max(budget_before, s.budget.value_or(0));
    if (s.at > from && s.at <= until) budget_during = std::max(budget_during, s.budget.value_or(0));
  }
  EXPECT_GT(backlog_before, 0) << fault << ": there was nothing to let out before it, so this shows nothing";
  EXPECT_GT(budget_before, 0) << fault << ": the relay said nothing of its budget before it";
  EXPECT_LE(budget_during, kNoise * budget_before) << fault;
  // What was allowed before may arrive a moment later.
  EXPECT_LE(report.highest_backlog_rate(from, until), kNoise * std::max(backlog_before, budget_before)) << fault;
  EXPECT_LE(report.highest_total_rate(from, until), kNoise * total_before) << fault;
}

// By itself, and before the next fault: the backlog goes at half of what it did before, or is gone.
inline void expect_return(const RecoveryReport& report, const std::string& fault, double from, double until) {
  if (report.clear_s && *report.clear_s < until) return;
  EXPECT_GE(report.highest_backlog_rate(until, until + 60), 0.5 * report.highest_backlog_rate(from - 20, from))
      << fault << " has not been recovered from a minute later";
}

}  // namespace spillway::testing
