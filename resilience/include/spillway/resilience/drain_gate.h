// Lets calls in until it is closed, then tells when the last one has left: for a shutdown that breaks nothing off.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "spillway/resilience/deadline.h"
#include "spillway/resilience/event.h"

namespace spillway::resilience {

// Any thread. Entering and, while open, leaving are lock-free. Once drained, the gate may be destroyed.
class DrainGate {
 public:
  class Pass {
   public:
    Pass() noexcept = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      if (this != &other) {
        drop();
        gate_ = std::exchange(other.gate_, nullptr);
      }
      return *this;
    }
    ~Pass() { drop(); }
    explicit operator bool() const noexcept { return gate_ != nullptr; }
    void drop() noexcept {
      if (DrainGate* gate = std::exchange(gate_, nullptr)) gate->leave();
    }

   private:
    friend class DrainGate;
    explicit Pass(DrainGate* gate) noexcept : gate_(gate) {}
    DrainGate* gate_ = nullptr;
  };

  // `events` may be null and must outlive the gate.
  explicit DrainGate(EventQueue* events = nullptr) noexcept : events_(events) {}
  DrainGate(const DrainGate&) = delete;
  DrainGate& operator=(const DrainGate&) = delete;

  // Empty once the gate is closed.
  [[nodiscard]] Pass enter() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & kClosed) == 0) {
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire)) return Pass(this);
    }
    return {};
  }

  // Idempotent; calls inside go on.
  void close(Instant now) noexcept;
  bool closed() const noexcept { return (word_.load(std::memory_order_acquire) & kClosed) != 0; }
  std::uint64_t inside() const noexcept { return word_.load(std::memory_order_acquire) & ~kClosed; }

  // Closed and empty.
  bool drained() const noexcept;
  // Blocks until drained, or until `deadline` by `clock`, a real one; says which.
  template <typename Clock>
  bool wait_drained(Clock& clock, Deadline deadline = {}) {
    std::unique_lock lock(mutex_);
    const auto empty = [&] { return word_.load(std::memory_order_acquire) == kClosed; };
    if (deadline.is_none()) {
      drained_.wait(lock, empty);
      return true;
    }
    return drained_.wait_for(lock, deadline.remaining(clock.now()), empty);
  }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

  void leave() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & kClosed) == 0) {
      if (word_.compare_exchange_weak(word, word - 1, std::memory_order_release)) return;
    }
    leave_closed();
  }
  // Under the lock, so that whoever waits finds the gate untouched after it has drained.
  void leave_closed() noexcept;

  EventQueue* const events_;
  std::atomic<std::uint64_t> word_{0};  // closed bit and the number of calls inside
  mutable std::mutex mutex_;
  std::condition_variable drained_;
  Instant closed_at_{};
};

}  // namespace spillway::resilience
