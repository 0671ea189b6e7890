#include "relay/live_reach.h"

#include <algorithm>
#include <chrono>

namespace spillway::relay {

void LiveReach::loaded(std::int64_t read_up_to, std::int64_t db_now, base::Instant now) {
  read_up_to_micros_ = read_up_to;
  if (read_up_to > 0) read_up_to_ = now - std::chrono::microseconds(std::max<std::int64_t>(0, db_now - read_up_to));
  fixed_at_ = read_up_to_.value_or(base::Instant{});
  fixed_micros_ = read_up_to_micros_;
}

void LiveReach::page_read(bool more) {
  caught_up_ = !more;
  if (more) return;
  ends_ = std::min(ends_ + 1, 2);
  read_up_to_ = fixed_at_;
  read_up_to_micros_ = fixed_micros_;
}

bool LiveReach::too_late(std::int64_t published, base::Instant now) const {
  if (published_at_split_ == published) return false;
  return !read_up_to_ || base::elapsed(*read_up_to_, now) > live_age_;
}

void LiveReach::split(std::int64_t published, base::Instant now) {
  read_up_to_ = fixed_at_;
  read_up_to_micros_ = fixed_micros_;
  // What was split off ends with a frame. One that was fixed before an outage ends before it, and what the outage
  // brought is still to follow.
  const bool all = base::elapsed(fixed_at_, now) <= live_age_;
  published_at_split_ = all ? published : -1;
}

std::optional<base::Duration> LiveReach::behind(base::Instant now) const {
  if (!read_up_to_) return std::nullopt;
  return base::elapsed(*read_up_to_, now);
}

}  // namespace spillway::relay
