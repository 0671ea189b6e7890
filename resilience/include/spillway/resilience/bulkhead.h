// Bounds how many calls run at once, with a bounded queue for those that may wait a little.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/deadline.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct BulkheadSettings {
  std::uint32_t limit = 25;      // calls at once; 1 .. 1,000,000
  Duration max_wait{0};          // for a slot; 0 (refuse at once) .. 10 years
  std::uint32_t queue = 1024;    // calls that may wait at once; 0 .. 1,000,000; unused without max_wait
  std::uint32_t priorities = 1;  // classes in the queue, 0 is served first; 1 .. 8

  std::optional<SettingError> first_error() const;
};

struct BulkheadCounters {
  std::uint64_t admitted = 0;  // modulo 2^40
  std::uint64_t refused = 0;   // full, displaced, or timed out
  std::uint64_t timed_out = 0;
};

// Any thread. Taking and returning a slot is lock-free while nobody waits. Slots freed go to the longest waiting call
// of the most important class; newcomers do not overtake waiters. Permits and waiters must not outlive the bulkhead.
class Bulkhead {
 public:
  static constexpr std::uint32_t kMostPriorities = 8;

  // One slot; returned exactly once, when dropped.
  class Permit {
   public:
    Permit() noexcept = default;
    Permit(Permit&& other) noexcept : bulkhead_(std::exchange(other.bulkhead_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      if (this != &other) {
        drop();
        bulkhead_ = std::exchange(other.bulkhead_, nullptr);
      }
      return *this;
    }
    ~Permit() { drop(); }

    explicit operator bool() const noexcept { return bulkhead_ != nullptr; }
    void drop() noexcept {
      if (Bulkhead* bulkhead = std::exchange(bulkhead_, nullptr)) bulkhead->release();
    }

   private:
    friend class Bulkhead;
    explicit Permit(Bulkhead* bulkhead) noexcept : bulkhead_(bulkhead) {}
    Bulkhead* bulkhead_ = nullptr;
  };

  enum class WaitState : std::uint8_t { kIdle, kWaiting, kGranted, kRefused, kTimedOut };

  // A place in the queue, owned by the call that waits: on its stack or in its coroutine frame. Leaves the queue when
  // destroyed, and returns a slot granted but not taken. Owner's thread only, except `on_wake`.
  class Waiter {
   public:
    using Wake = void (*)(void* context) noexcept;

    Waiter() noexcept = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
      if (bulkhead_ != nullptr) leave();
    }

    // Only after acquire_or_wait(). Called once, on the thread that grants or refuses (this one, if that
    // has happened already), under the bulkhead's lock: do no more than wake the owner.
    void on_wake(Wake wake, void* context) noexcept;
    // Where it stands at `now`; a waiter past its time leaves the queue here, unless a slot came first.
    WaitState poll(Instant now) noexcept;
    // The slot, once granted.
    Permit take() noexcept;
    // Gives up the place; a slot granted meanwhile goes back.
    void leave() noexcept;
    Instant until() const noexcept { return until_; }
    bool idle() const noexcept { return bulkhead_ == nullptr; }
    // Blocks the thread until decided, or until its time is over by `clock`, a real one; then poll() says what came.
    template <typename Clock>
    void block(Clock& clock) {
      bulkhead_->block(*this, clock);
    }

   private:
    friend class Bulkhead;
    Bulkhead* bulkhead_ = nullptr;
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
    Instant until_{};
    std::uint32_t priority_ = 0;
    bool queued_ = false;  // was in the queue: another thread may still hold on to it under the lock
    std::atomic<WaitState> state_{WaitState::kIdle};
    Wake wake_ = nullptr;
    void* wake_context_ = nullptr;
  };

  // Throws InvalidSetting.
  explicit Bulkhead(BulkheadSettings settings);
  Bulkhead(const Bulkhead&) = delete;
  Bulkhead& operator=(const Bulkhead&) = delete;

  // A slot now, or an empty permit (counted as refused).
  [[nodiscard]] Permit try_acquire() noexcept {
    if (Permit permit = try_acquire_uncounted()) return permit;
    refused_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }

  // The same for a caller that goes on to wait: an empty permit is not counted yet.
  [[nodiscard]] Permit try_acquire_uncounted() noexcept { return take_slot_unless_queued() ? Permit(this) : Permit(); }

  // A slot now, or a place in the queue until min(now + max_wait, deadline). Afterwards `waiter` is kGranted, kWaiting
  // or kRefused. `priority` beyond the last class counts as the last. In a full queue the newest waiter of a less
  // important class makes room. `waiter` must be idle.
  WaitState acquire_or_wait(Waiter& waiter, Instant now, Deadline deadline = {}, std::uint32_t priority = 0) noexcept;

  // A limit that another policy steers; 1 .. 1,000,000. Lowering it revokes nothing.
  void set_limit(std::uint32_t limit) noexcept;

  std::uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::uint32_t in_use() const noexcept { return static_cast<std::uint32_t>(slots_.load() & kInUse); }
  std::uint32_t available() const noexcept;
  std::uint32_t waiting() const noexcept { return waiting_.load(); }
  BulkheadCounters counters() const noexcept;
  const BulkheadSettings& settings() const noexcept { return settings_; }

 private:
  // The low 24 bits count slots in use, the rest counts admissions: one addition serves both.
  static constexpr std::uint64_t kInUse = (1u << 24) - 1;
  static constexpr std::uint64_t kAdmission = (1u << 24) + 1;

  bool take_slot() noexcept {
    std::uint64_t slots = slots_.load();
    while ((slots & kInUse) < limit_.load(std::memory_order_relaxed)) {
      if (slots_.compare_exchange_weak(slots, slots + kAdmission)) return true;
    }
    return false;
  }
  bool take_slot_unless_queued() noexcept { return waiting_.load() == 0 && take_slot(); }

  // Either a releaser sees the waiter, or the waiter sees the slot: both orders are sequentially consistent.
  void release() noexcept {
    slots_.fetch_sub(1);
    if (waiting_.load() != 0) grant_waiting();
  }
  void grant_waiting() noexcept;
  template <typename Clock>
  void block(Waiter& waiter, Clock& clock);

  // With mutex_ held:
  void grant_all_possible() noexcept;
  void append(Waiter& waiter) noexcept;
  void unlink(Waiter& waiter) noexcept;
  void decide(Waiter& waiter, WaitState state) noexcept;
  bool make_room(std::uint32_t priority) noexcept;

  const BulkheadSettings settings_;
  std::atomic<std::uint64_t> slots_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint32_t> limit_;
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> timed_out_{0};

  struct Line {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };
  std::mutex mutex_;
  std::condition_variable decided_;
  std::array<Line, kMostPriorities> lines_{};
};

template <typename Clock>
void Bulkhead::block(Waiter& waiter, Clock& clock) {
  for (;;) {
    const Instant now = clock.now();
    if (waiter.poll(now) != WaitState::kWaiting) return;
    std::unique_lock lock(mutex_);
    decided_.wait_for(lock, elapsed(now, waiter.until()), [&] { return waiter.state_.load() != WaitState::kWaiting; });
  }
}

}  // namespace spillway::resilience
