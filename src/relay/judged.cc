#include "relay/judged.h"

#include <algorithm>

namespace spillway::relay {

void Judged::up_to(const model::Frame& frame, std::int64_t seq) {
  if (frames_.empty() || frames_.back().frame != frame) {
    if (!frames_.empty()) frames_.back().seq = kWhole;
    frames_.push_back({frame, seq});
  }
  frames_.back().seq = std::max(frames_.back().seq, seq);
}

bool Judged::covers(const model::Frame& frame, std::int64_t seq) const {
  const auto found = std::ranges::find(frames_, frame, &Of::frame);
  return found != frames_.end() && seq <= found->seq;
}

std::vector<ports::Interval> Judged::from(const model::Position& place, const std::string& end,
                                          std::int64_t began_unix_micros) const {
  std::vector<ports::Interval> stretches;
  std::string at = place.frame.from;
  auto next = frames_.begin();
  if (!place.frame.to.empty()) {
    const auto found = std::ranges::find(frames_, place.frame, &Of::frame);
    const bool known = found != frames_.end();
    stretches.push_back({place, began_unix_micros, known ? std::optional(found->seq) : std::nullopt});
    at = place.frame.to;
    if (known) next = std::next(found);
  }
  // Frames that lie behind the place are the one that ends where it begins and those before that.
  if (const auto passed = std::ranges::find(frames_, at, [](const Of& of) { return of.frame.to; });
      passed != frames_.end()) {
    next = std::next(passed);
  }
  while (at != end) {
    const bool judged = next != frames_.end() && next->frame.from == at;
    std::string to = judged ? next->frame.to : next != frames_.end() ? next->frame.from : end;
    stretches.push_back(
        {{{at, to}, std::nullopt}, began_unix_micros, judged ? std::optional(next->seq) : std::nullopt});
    if (judged) ++next;
    at = std::move(to);
  }
  return stretches;
}

}  // namespace spillway::relay
