// How far live has been read, in time: up to when every row is known, and whether that is so long ago that what is
// still to come is backlog.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace spillway::relay {

class LiveReach {
 public:
  // `live_age`: how long ago it may be.
  explicit LiveReach(base::Duration live_age) : live_age_(live_age) {}

  // What the ledger says: all that was visible at `read_up_to` has been read; 0 = nothing was. Both in microseconds of
  // the database's clock.
  void loaded(std::int64_t read_up_to, std::int64_t db_now, base::Instant now);

  // The read that began at `asked_at` fixed the end of the frame that live is in, the database's clock showing
  // `db_now` microseconds.
  void frame_fixed(base::Instant asked_at, std::int64_t db_now) { fixed_at_ = asked_at, fixed_micros_ = db_now; }
  // A page of the frame was read; `more`: it was not the last.
  void page_read(bool more);

  // Whether what was read of live and not sent has to become backlog, `published` events having been acknowledged by
  // now. Not again before one was since the last time: while the broker is away every look would say so.
  bool too_late(std::int64_t published, base::Instant now) const;
  // It has become backlog; live goes on behind the frame.
  void split(std::int64_t published, base::Instant now);

  // How long ago all rows of then had been read; empty while that is not known.
  std::optional<base::Duration> behind(base::Instant now) const;
  // The same time by the database's clock, as it is saved; 0 while it is not known.
  std::int64_t read_up_to_unix_micros() const { return read_up_to_micros_; }

  // The last page was the last of its frame.
  bool caught_up() const { return caught_up_; }
  // All rows that an earlier life recorded have been passed: the first end of a frame may be that of one from before,
  // the second is later than all that was recorded then.
  bool beyond_earlier_lives() const { return ends_ >= 2; }

 private:
  base::Duration live_age_;
  base::Instant fixed_at_{};
  std::int64_t fixed_micros_ = 0;
  std::optional<base::Instant> read_up_to_;  // the end of the last frame that was read whole
  std::int64_t read_up_to_micros_ = 0;
  std::int64_t published_at_split_ = -1;
  bool caught_up_ = false;
  int ends_ = 0;  // of frames; counted up to 2
};

}  // namespace spillway::relay
