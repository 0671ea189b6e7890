// Callers with deadlines in front of a simulated downstream, on a time that is told from outside.
//
// One thread. Times never go back; every call with a time first does what was due before it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "base/time.h"
#include "sim/downstream.h"

namespace spillway::bank {

using Ticket = std::uint64_t;  // the caller's name for a call

struct Happening {
  enum class Kind : std::uint8_t {
    kAnswered,      // within the deadline, which is part of it
    kGivenUp,       // the deadline passed; the work is still done
    kAnsweredLate,  // the work of a call that was given up is done
    kRefused,       // at once: the downstream takes no more
  };

  Kind kind;
  Ticket ticket;
  base::Instant at;
  base::Duration latency;  // since the call
};

class Tellers {
 public:
  Tellers(const sim::DownstreamSpec& spec, std::uint64_t seed);

  void call(base::Instant now, Ticket ticket, base::Duration deadline);
  void advance(base::Instant now);
  void change(base::Instant now, const sim::Change& change);
  // Between the two, calls are accepted, deadlines pass and nothing is completed; work that was begun goes on
  // afterwards where it stood.
  void stop(base::Instant now);
  void resume(base::Instant now);

  // What happened since the last take, in order of time.
  std::vector<Happening> take();
  // When advance() has something to do next.
  std::optional<base::Instant> next_event() const;

  std::size_t waiting() const { return downstream_->waiting(); }
  std::size_t in_service() const { return open_ - waiting(); }

 private:
  struct Call {
    Ticket ticket = 0;
    base::Instant made;
    bool open = false;
    bool given_up = false;
  };
  struct Deadline {
    base::Instant at;
    sim::CallId id;
    Ticket ticket;  // the call may be over and its id another's
    bool operator>(const Deadline& other) const { return at > other.at; }
  };

  double service_time(base::Instant now) const;
  std::optional<base::Instant> next_completion() const;
  sim::CallId open(base::Instant now, Ticket ticket);
  void complete(base::Instant at);
  void pass_deadline();

  sim::Random random_;
  std::unique_ptr<sim::Downstream> downstream_;
  std::optional<base::Instant> origin_;  // of the downstream's time, which stands while it is stopped
  std::optional<base::Instant> stopped_;
  std::vector<Call> calls_;
  std::vector<sim::CallId> free_;
  std::size_t open_ = 0;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::vector<Happening> happened_;
};

}  // namespace spillway::bank
