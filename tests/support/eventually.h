// The one place where a test waits: poll a condition until it holds or a deadline passes.
#pragma once

#include <chrono>
#include <thread>

namespace spillway::testing {

// True as soon as `condition()` is; false when `limit` has passed without it. The condition is asked at least once, and
// once more after the limit, so that a test is never failed by a machine that slept in between.
template <typename Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10),
                std::chrono::milliseconds poll = std::chrono::milliseconds(5)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return condition();
    std::this_thread::sleep_for(poll);
  }
  return true;
}

}  // namespace spillway::testing
