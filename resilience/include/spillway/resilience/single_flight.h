// Lets many callers of the same thing share one call.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/deadline.h"

namespace spillway::resilience {

// Any thread; callers that follow block. T is copied to each of them. A call that throws throws the same exception at
// all. The key is free again before anybody gets the result, so later callers start a new call.
template <typename Key, typename T>
class SingleFlight {
 public:
  struct Shared {
    T value;
    bool led = false;  // this caller made the call
  };

  // Runs `body`, or waits for the one that runs it, until `deadline` by `clock` (a real one; the leader is not
  // stopped).
  template <typename Clock, typename Body>
  std::expected<Shared, Cause> run(const Key& key, Body&& body, Clock& clock, Deadline deadline = {}) {
    std::unique_lock lock(mutex_);
    if (const auto found = flights_.find(key); found != flights_.end()) {
      const std::shared_ptr<Flight> flight = found->second;
      return follow(*flight, lock, clock, deadline);
    }
    const auto flight = std::make_shared<Flight>();
    flights_.emplace(key, flight);
    lock.unlock();

    // Nobody else looks at the flight's result before it has landed, so it is filled without the lock.
    try {
      flight->value.emplace(std::forward<Body>(body)());
    } catch (...) {
      flight->thrown = std::current_exception();
    }
    lock.lock();
    flight->landed = true;
    flights_.erase(key);
    lock.unlock();
    landed_.notify_all();
    return result_of(*flight, true);
  }

  // Calls under way.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return flights_.size();
  }
  // Callers waiting for somebody else's call.
  std::size_t following() const {
    const std::lock_guard lock(mutex_);
    return following_;
  }

 private:
  struct Flight {
    bool landed = false;
    std::optional<T> value;
    std::exception_ptr thrown;
  };

  template <typename Clock>
  std::expected<Shared, Cause> follow(const Flight& flight, std::unique_lock<std::mutex>& lock, Clock& clock,
                                      Deadline deadline) {
    ++following_;
    const auto has_landed = [&] { return flight.landed; };
    if (deadline.is_none()) {
      landed_.wait(lock, has_landed);
    } else {
      landed_.wait_for(lock, deadline.remaining(clock.now()), has_landed);
    }
    --following_;
    if (!flight.landed) return std::unexpected(Cause::kDeadlineExceeded);
    return result_of(flight, false);
  }

  static Shared result_of(const Flight& flight, bool led) {
    if (flight.thrown) std::rethrow_exception(flight.thrown);
    return Shared{*flight.value, led};
  }

  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::unordered_map<Key, std::shared_ptr<Flight>> flights_;
  std::size_t following_ = 0;
};

}  // namespace spillway::resilience
