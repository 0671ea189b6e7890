#include "relay/window.h"

#include <algorithm>
#include <cassert>

namespace spillway::relay {

Ordinal Window::append(const model::Page& page) {
  const Ordinal first = next_ordinal_;
  Stretch stretch;
  stretch.first = first;
  stretch.frame = page.frame;
  stretch.next = page.next;
  if (read_up_to_.frame == page.frame) stretch.before = read_up_to_.last_seq;
  read_up_to_ = page.next;
  stretch.seqs.reserve(page.rows.size());
  for (const model::Row& row : page.rows) stretch.seqs.push_back(row.seq);
  stretch.rows.resize(page.rows.size());
  next_ordinal_ += page.rows.size();
  open_ += page.rows.size();
  stretches_.push_back(std::move(stretch));
  advance();
  return first;
}

Window::Stretch& Window::stretch_of(Ordinal ordinal) {
  auto after = std::upper_bound(stretches_.begin(), stretches_.end(), ordinal,
                                [](Ordinal o, const Stretch& s) { return o < s.first; });
  assert(after != stretches_.begin());
  return *std::prev(after);
}

void Window::finish(Ordinal ordinal, Row how) {
  Stretch& stretch = stretch_of(ordinal);
  const std::size_t index = ordinal - stretch.first;
  assert(stretch.rows[index] == Row::kOpen);
  stretch.rows[index] = how;
  --open_;
  ahead_ += how == Row::kAcknowledged;
  if (&stretch == &stretches_.front() && index == stretch.passed) advance();
}

void Window::advance() {
  while (!stretches_.empty()) {
    Stretch& front = stretches_.front();
    while (front.passed < front.seqs.size() && front.rows[front.passed] != Row::kOpen) {
      ahead_ -= front.rows[front.passed++] == Row::kAcknowledged;
    }
    if (front.passed < front.seqs.size()) {
      const bool outside = position_.frame.to.empty() && !position_.last_seq;
      if (front.passed > 0) position_ = {front.frame, front.seqs[front.passed - 1]};
      if (front.passed == 0 && outside) position_ = {front.frame, front.before};
      return;
    }
    position_ = front.next;
    stretches_.pop_front();
  }
}

}  // namespace spillway::relay
