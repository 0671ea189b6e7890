// What policies tell a listener: rare changes of state, never single calls. Single calls are counters.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class EventKind : std::uint8_t {
  kBreakerOpened,
  kBreakerHalfOpened,
  kBreakerClosed,
  kBreakerForced,        // forced open, disabled or metrics-only by a person
  kBreakerRateExceeded,  // metrics-only: would have opened
  kLimitChanged,         // value: the new limit
  kEndpointEjected,      // value: the endpoint's index
  kEndpointReturned,     // value: the endpoint's index
  kDrainStarted,
  kDrained,
};
const char* to_string(EventKind kind) noexcept;

struct Event {
  Instant at{};
  EventKind kind{};
  std::uint64_t value = 0;        // the breaker's generation unless the kind says otherwise
  std::array<char, 32> source{};  // the policy's name, cut to 31 bytes

  std::string_view name() const noexcept { return source.data(); }
};

// A bounded queue between policies and one listener. Policies never run the listener and never wait for it: when the
// queue is full an event is dropped and counted. After D. Vyukov's bounded MPMC queue.
class EventQueue {
 public:
  // Rounded up to a power of two, at least 2.
  explicit EventQueue(std::size_t capacity = 1024);

  // Any thread; lock-free; no allocation.
  void push(const Event& event) noexcept;

  // Hands all waiting events to `listener(const Event&)` on the calling thread and returns how many there were. A
  // listener that throws loses that event: it is counted, and the next one follows. Any thread.
  template <typename Listener>
  std::size_t drain(Listener&& listener) {
    std::size_t events = 0;
    for (Event event; pop(event); ++events) {
      try {
        listener(static_cast<const Event&>(event));
      } catch (...) {
        listener_errors_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    return events;
  }

  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  std::uint64_t listener_errors() const noexcept { return listener_errors_.load(std::memory_order_relaxed); }

 private:
  struct Cell {
    std::atomic<std::size_t> turn;
    Event event;
  };
  bool pop(Event& event) noexcept;

  std::size_t mask_;
  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> listener_errors_{0};
};

}  // namespace spillway::resilience
