#include <cstdio>
#include <expected>
#include <string>

#include "spillway/resilience/resilience.h"

int main() {
  using namespace spillway::resilience;
  const SystemClock clock;
  Random random(1);
  Retry<> retry({.attempts = 3, .backoff = {.base = std::chrono::microseconds(1)}}, random);
  CircuitBreaker breaker({.name = "shop"}, clock.now());
  const auto shop = pipeline(retry, breaker, AttemptTimeout(std::chrono::seconds(1)));
  int runs = 0;
  const auto answer = shop.call(
      [&]() -> std::expected<int, std::string> {
        if (++runs < 3) return std::unexpected("closed");
        return 7;
      },
      {.idempotent = true});
  std::printf("answer %d after %u attempts\n", answer.value(), answer.attempts);
  return answer.value() == 7 && answer.attempts == 3 ? 0 : 1;
}
