// Keeps the lease of one outbox: when to ask for it, when to renew it, and until when it may be relied on.
//
// It is relied on only up to a local deadline, counted from before the renewal was sent, so that this relay stops
// before the database would give the lease to another. A renewal that failed says nothing; the deadline decides.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "ports/outbox_store.h"

namespace spillway::relay {

class LeaseKeeper {
 public:
  struct Times {
    base::Duration ttl = std::chrono::seconds(10);
    base::Duration renew_every = std::chrono::seconds(3);
    base::Duration margin = std::chrono::seconds(1);
    base::Duration ask_every = std::chrono::milliseconds(300);  // while another holds it
  };

  enum class Ask : std::uint8_t { kAcquire, kRenew };

  explicit LeaseKeeper(Times times) : times_(times) {}

  const Times& times() const { return times_; }

  // What to ask the database now. The question is out until `answered` or `renewed`.
  std::optional<Ask> next(base::Instant now) {
    if (out_ || now < due_) return std::nullopt;
    out_ = true;
    asked_at_ = now;
    return held(now) ? Ask::kRenew : Ask::kAcquire;
  }

  void acquired(const base::Result<ports::LeaseState>& state, base::Instant now) {
    out_ = false;
    if (state && state->mine) {
      lease_ = state->lease;
      extend();
    } else {
      lease_.reset();
      due_ = now + times_.ask_every;
    }
    if (state) other_ = state->mine ? std::string() : state->holder_name;
  }

  void renewed(const base::Status& status, base::Instant now) {
    out_ = false;
    if (!lease_) {
      due_ = now;  // lost while the question was out
    } else if (status) {
      extend();
    } else if (status.error().error_class == base::ErrorClass::kLostLease) {
      lease_.reset();
      due_ = now;
    } else {
      due_ = now + times_.ask_every;
    }
  }

  // A write was refused because the lease is another's.
  void lost(base::Instant now) {
    lease_.reset();
    due_ = now;
  }

  // Whether work may be done now.
  bool held(base::Instant now) const { return lease_ && now < deadline_; }
  const std::optional<ports::Lease>& lease() const { return lease_; }
  // Who holds it otherwise; for people.
  const std::string& other() const { return other_; }

  base::Instant next_wake() const { return due_; }

 private:
  void extend() {
    deadline_ = asked_at_ + times_.ttl - times_.margin;
    due_ = asked_at_ + times_.renew_every;
  }

  Times times_;
  std::optional<ports::Lease> lease_;
  std::string other_;
  base::Instant asked_at_{};
  base::Instant deadline_{};
  base::Instant due_{};
  bool out_ = false;
};

}  // namespace spillway::relay
