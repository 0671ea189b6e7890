#include "spillway/resilience/bulkhead.h"

#include <algorithm>

namespace spillway::resilience {

std::optional<SettingError> BulkheadSettings::first_error() const {
  return SettingCheck("bulkhead")
      .whole("limit", limit, 1, 1'000'000)
      .time("max_wait", max_wait, Duration::zero(), kLongestTime)
      .whole("queue", queue, 0, 1'000'000)
      .whole("priorities", priorities, 1, Bulkhead::kMostPriorities)
      .first_error();
}

Bulkhead::Bulkhead(BulkheadSettings settings) : settings_(checked(settings)), limit_(settings.limit) {}

Bulkhead::WaitState Bulkhead::acquire_or_wait(Waiter& waiter, Instant now, Deadline deadline,
                                              std::uint32_t priority) noexcept {
  waiter.bulkhead_ = this;
  waiter.queued_ = false;
  waiter.wake_ = nullptr;
  waiter.priority_ = std::min(priority, settings_.priorities - 1);
  if (take_slot_unless_queued()) {
    waiter.state_.store(WaitState::kGranted, std::memory_order_relaxed);
    return WaitState::kGranted;
  }
  waiter.until_ = earlier(Deadline::after(now, settings_.max_wait), deadline).instant();
  const std::lock_guard lock(mutex_);
  const bool may_wait = waiter.until_ > now && settings_.queue > 0;
  if (!may_wait || (waiting_.load() >= settings_.queue && !make_room(waiter.priority_))) {
    waiter.state_.store(WaitState::kRefused, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return WaitState::kRefused;
  }
  waiter.state_.store(WaitState::kWaiting, std::memory_order_relaxed);
  waiter.queued_ = true;
  append(waiter);
  grant_all_possible();
  return waiter.state_.load(std::memory_order_relaxed);
}

void Bulkhead::grant_waiting() noexcept {
  const std::lock_guard lock(mutex_);
  grant_all_possible();
}

void Bulkhead::grant_all_possible() noexcept {
  for (Line& line : lines_) {
    while (line.first != nullptr) {
      if (!take_slot()) return;
      Waiter& waiter = *line.first;
      unlink(waiter);
      decide(waiter, WaitState::kGranted);
    }
  }
}

void Bulkhead::append(Waiter& waiter) noexcept {
  Line& line = lines_[waiter.priority_];
  waiter.previous_ = line.last;
  waiter.next_ = nullptr;
  (line.last != nullptr ? line.last->next_ : line.first) = &waiter;
  line.last = &waiter;
  waiting_.fetch_add(1);
}

void Bulkhead::unlink(Waiter& waiter) noexcept {
  Line& line = lines_[waiter.priority_];
  (waiter.previous_ != nullptr ? waiter.previous_->next_ : line.first) = waiter.next_;
  (waiter.next_ != nullptr ? waiter.next_->previous_ : line.last) = waiter.previous_;
  waiting_.fetch_sub(1);
}

void Bulkhead::decide(Waiter& waiter, WaitState state) noexcept {
  waiter.state_.store(state);
  if (waiter.wake_ != nullptr) waiter.wake_(waiter.wake_context_);
  decided_.notify_all();
}

bool Bulkhead::make_room(std::uint32_t priority) noexcept {
  for (std::uint32_t worst = settings_.priorities - 1; worst > priority; --worst) {
    if (Waiter* newest = lines_[worst].last; newest != nullptr) {
      unlink(*newest);
      refused_.fetch_add(1, std::memory_order_relaxed);
      decide(*newest, WaitState::kRefused);
      return true;
    }
  }
  return false;
}

void Bulkhead::set_limit(std::uint32_t limit) noexcept {
  limit_.store(std::clamp<std::uint32_t>(limit, 1, 1'000'000));
  if (waiting_.load() != 0) grant_waiting();
}

std::uint32_t Bulkhead::available() const noexcept {
  const std::uint32_t used = in_use();
  const std::uint32_t most = limit();
  return used < most ? most - used : 0;
}

BulkheadCounters Bulkhead::counters() const noexcept {
  return {slots_.load(std::memory_order_relaxed) >> 24, refused_.load(std::memory_order_relaxed),
          timed_out_.load(std::memory_order_relaxed)};
}

void Bulkhead::Waiter::on_wake(Wake wake, void* context) noexcept {
  const std::lock_guard lock(bulkhead_->mutex_);
  wake_ = wake;
  wake_context_ = context;
  if (wake != nullptr && state_.load() != WaitState::kWaiting) wake(context);
}

Bulkhead::WaitState Bulkhead::Waiter::poll(Instant now) noexcept {
  if (state_.load() != WaitState::kWaiting || now < until_) return state_.load();
  const std::lock_guard lock(bulkhead_->mutex_);
  if (state_.load() == WaitState::kWaiting) {
    bulkhead_->unlink(*this);
    state_.store(WaitState::kTimedOut);
    bulkhead_->timed_out_.fetch_add(1, std::memory_order_relaxed);
    bulkhead_->refused_.fetch_add(1, std::memory_order_relaxed);
  }
  return state_.load();
}

Bulkhead::Permit Bulkhead::Waiter::take() noexcept {
  WaitState granted = WaitState::kGranted;
  if (!state_.compare_exchange_strong(granted, WaitState::kIdle)) return {};
  return Permit(bulkhead_);
}

void Bulkhead::Waiter::leave() noexcept {
  if (bulkhead_ == nullptr) return;
  if (queued_) {
    // Also keeps a thread that is still waking this waiter from finding it gone.
    const std::lock_guard lock(bulkhead_->mutex_);
    if (state_.load() == WaitState::kWaiting) {
      bulkhead_->unlink(*this);
      state_.store(WaitState::kIdle);
    }
  }
  take().drop();
  bulkhead_ = nullptr;
}

}  // namespace spillway::resilience
