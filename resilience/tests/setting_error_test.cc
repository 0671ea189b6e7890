#include <gtest/gtest.h>

#include "spillway/resilience/backoff.h"
#include "spillway/resilience/bulkhead.h"
#include "spillway/resilience/circuit_breaker.h"
#include "spillway/resilience/deadline_header.h"
#include "spillway/resilience/retry_budget.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

template <typename Build>
std::string error_of(Build&& build) {
  try {
    build();
  } catch (const InvalidSetting& error) {
    return error.what();
  }
  return "no error";
}

TEST(SettingError, NamesFieldValueAndRange) {
  const auto breaker = [](BreakerSettings settings) { return error_of([&] { CircuitBreaker(settings, Instant{}); }); };
  EXPECT_EQ(breaker({.failure_rate_percent = 101}), "circuit_breaker.failure_rate_percent is 101; expected 1 to 100");
  EXPECT_EQ(breaker({.window_size = 0}), "circuit_breaker.window_size is 0; expected 1 to 1000000");
  EXPECT_EQ(breaker({.trials = 0}), "circuit_breaker.trials is 0; expected 1 to 10000");
  EXPECT_EQ(breaker({.open_wait = milliseconds(-5)}), "circuit_breaker.open_wait is -5ms; expected 1ns to 87600h");
  EXPECT_EQ(breaker({.name = ""}), "circuit_breaker.name is \"\"; expected 1 to 31 bytes");

  EXPECT_EQ(error_of([] { Backoff({.base = milliseconds(20), .cap = milliseconds(10)}); }),
            "backoff.cap is 10ms; expected at least base, 20ms");
  EXPECT_EQ(error_of([] { Backoff({.factor = 0.5}); }), "backoff.factor is 0.5; expected 1 to 100");
  EXPECT_EQ(error_of([] { RetryBudget({.ratio = 1.5}); }), "retry_budget.ratio is 1.5; expected 0.001 to 1");
  EXPECT_EQ(error_of([] { Bulkhead({.limit = 0}); }), "bulkhead.limit is 0; expected 1 to 1000000");
  EXPECT_EQ(error_of([] { DeadlineReader(milliseconds(0)); }), "deadline_reader.longest is 0s; expected 1ms to 87600h");
}

TEST(SettingError, IsAlsoAValue) {
  EXPECT_FALSE(BreakerSettings{}.first_error().has_value());
  const BreakerSettings bad{.minimum_calls = 0};
  ASSERT_TRUE(bad.first_error().has_value());
  EXPECT_EQ(bad.first_error()->field, "circuit_breaker.minimum_calls");
}

}  // namespace
}  // namespace spillway::resilience
