// Carries an operation out at most once per key, and answers repetitions with the stored reply.
// States after the IETF draft "The Idempotency-Key HTTP Header Field".
#pragma once

#include <concepts>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class KeyState : std::uint8_t {
  kNew,         // nobody has it: carry the operation out, then complete() or abandon()
  kInProgress,  // somebody carries it out now
  kDone,        // carried out: `reply` is what came of it
};

template <typename Reply>
struct KeyAnswer {
  KeyState state = KeyState::kNew;
  std::uint64_t token = 0;       // kNew: names this holder to complete() and abandon()
  std::optional<Reply> reply{};  // kDone
};

// What a store has to do; a database table can be one. begin() must be atomic per key. complete() and abandon() with a
// token that is no longer the holder's change nothing and return false.
template <typename S, typename Reply>
concept IdempotencyStore = requires(S& store, std::string_view key, std::uint64_t token, Reply reply, Instant now) {
  { store.begin(key, now) } -> std::same_as<KeyAnswer<Reply>>;
  { store.complete(key, token, std::move(reply), now) } -> std::same_as<bool>;
  { store.abandon(key, token) } -> std::same_as<bool>;
};

struct MemoryIdempotencySettings {
  std::uint32_t capacity = 10'000;          // keys done; the oldest are forgotten first; 1 .. 100,000,000
  Duration keep = std::chrono::hours(24);   // a stored reply; 1 ns .. 10 years
  Duration hold = std::chrono::minutes(5);  // a holder that is silent for longer has lost the key; 1 ns .. 10 years

  std::optional<SettingError> first_error() const;
};

// In memory. Any thread; one short lock. Keys in progress are not forgotten: a holder that neither completes nor
// abandons leaves its key until the next begin() with it.
template <typename Reply>
class MemoryIdempotencyStore {
 public:
  // Throws InvalidSetting.
  explicit MemoryIdempotencyStore(MemoryIdempotencySettings settings = {}) : settings_(checked(settings)) {}

  KeyAnswer<Reply> begin(std::string_view key, Instant now) {
    const std::lock_guard lock(mutex_);
    forget_old(now);
    const auto [found, fresh] = entries_.try_emplace(std::string(key));
    Entry& entry = found->second;
    if (!fresh && entry.reply) return {.state = KeyState::kDone, .reply = entry.reply};
    if (!fresh && elapsed(entry.since, now) < settings_.hold) return {.state = KeyState::kInProgress};
    entry.token = ++last_token_;
    entry.since = now;
    return {.state = KeyState::kNew, .token = entry.token};
  }

  bool complete(std::string_view key, std::uint64_t token, Reply reply, Instant now) {
    const std::lock_guard lock(mutex_);
    const auto found = holder(key, token);
    if (found == entries_.end()) return false;
    found->second.reply = std::move(reply);
    found->second.since = now;
    done_.push_back(found->first);
    forget_old(now);
    return true;
  }

  bool abandon(std::string_view key, std::uint64_t token) {
    const std::lock_guard lock(mutex_);
    const auto found = holder(key, token);
    if (found == entries_.end()) return false;
    entries_.erase(found);
    return true;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::uint64_t token = 0;
    Instant since{};
    std::optional<Reply> reply;
  };
  using Entries = std::unordered_map<std::string, Entry>;

  typename Entries::iterator holder(std::string_view key, std::uint64_t token) {
    const auto found = entries_.find(std::string(key));
    const bool held = found != entries_.end() && !found->second.reply && found->second.token == token;
    return held ? found : entries_.end();
  }

  void forget_old(Instant now) {
    while (!done_.empty()) {
      const auto oldest = entries_.find(done_.front());
      if (done_.size() <= settings_.capacity && elapsed(oldest->second.since, now) < settings_.keep) return;
      entries_.erase(oldest);
      done_.pop_front();
    }
  }

  MemoryIdempotencySettings settings_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::list<std::string> done_;  // keys with a reply, oldest first
  std::uint64_t last_token_ = 0;
};

// Runs `body` under `key`, if it is new, and stores what it returns. An exception gives the key back and passes on.
// `store_it(reply)` says whether a reply is final; one that is not gives the key back too, so the body may run again.
template <typename Reply, IdempotencyStore<Reply> Store, typename Clock, typename Body, typename Predicate>
KeyAnswer<Reply> run_once(Store& store, std::string_view key, Clock& clock, Body&& body, Predicate&& store_it) {
  KeyAnswer<Reply> answer = store.begin(key, clock.now());
  if (answer.state != KeyState::kNew) return answer;
  struct GiveBack {
    Store& store;
    std::string_view key;
    std::uint64_t token;
    bool armed = true;
    ~GiveBack() {
      if (armed) store.abandon(key, token);
    }
  } give_back{store, key, answer.token};
  answer.reply = std::forward<Body>(body)();
  if (std::forward<Predicate>(store_it)(*answer.reply)) {
    give_back.armed = false;
    store.complete(key, answer.token, *answer.reply, clock.now());
  }
  return answer;
}

}  // namespace spillway::resilience
