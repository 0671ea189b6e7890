#include "relay/window.h"

#include <algorithm>
#include <cassert>

namespace spillway::relay {

Ordinal Window::append(const model::Page& page) {
  const Ordinal first = next_ordinal_;
  Stretch stretch{.first = first, .frame = page.frame, .next = page.next, .seqs = {}, .done = {}, .passed = 0};
  stretch.seqs.reserve(page.rows.size());
  for (const model::Row& row : page.rows) stretch.seqs.push_back(row.seq);
  stretch.done.resize(page.rows.size());
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

void Window::finish(Ordinal ordinal) {
  Stretch& stretch = stretch_of(ordinal);
  const std::size_t index = ordinal - stretch.first;
  assert(!stretch.done[index]);
  stretch.done[index] = true;
  --open_;
  ++ahead_;
  if (&stretch == &stretches_.front() && index == stretch.passed) advance();
}

void Window::advance() {
  while (!stretches_.empty()) {
    Stretch& front = stretches_.front();
    const std::size_t before = front.passed;
    while (front.passed < front.seqs.size() && front.done[front.passed]) ++front.passed;
    ahead_ -= front.passed - before;
    if (front.passed < front.seqs.size()) {
      if (front.passed > 0) position_ = {front.frame, front.seqs[front.passed - 1]};
      return;
    }
    position_ = front.next;
    stretches_.pop_front();
  }
}

}  // namespace spillway::relay
