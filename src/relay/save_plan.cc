#include "relay/save_plan.h"

#include <algorithm>
#include <utility>

namespace spillway::relay {
namespace {

// The place also moves while no row arrives; saving that is only a matter of a quick start.
constexpr base::Duration kIdleEvery = std::chrono::seconds(30);

}  // namespace

void SavePlan::loaded(ports::Progress progress, base::Instant now) {
  saved_ = std::move(progress);
  last_ = now;
}

void SavePlan::published(std::int64_t seq) {
  ++unsaved_;
  if (options_.marks_rows) acknowledged_.push_back(seq);
}

bool SavePlan::due(bool at_once, bool within_frame, base::Instant now) const {
  if (at_once || unsaved_ >= options_.rows || !splits_saved()) return true;
  const bool rows_passed = unsaved_ > 0 || recorded_ || within_frame;
  return base::elapsed(last_, now) >= (rows_passed ? options_.every : kIdleEvery);
}

std::optional<ports::SaveRequest> SavePlan::next(ports::Progress progress, bool owed, base::Instant now) {
  if (!owed && unsaved_ == 0 && splits_saved() && stands_at(progress)) return std::nullopt;
  saving_ = {std::move(progress), unsaved_, splits_, acknowledged_.size()};
  last_ = now;
  ports::SaveRequest request{saving_.progress, saving_.published, acknowledged_};
  std::ranges::sort(request.finished);
  return request;
}

void SavePlan::saved() {
  saved_ = saving_.progress;
  saved_splits_ = saving_.splits;
  recorded_ = false;
  unsaved_ -= std::exchange(saving_.published, 0);
  acknowledged_.erase(acknowledged_.begin(),
                      acknowledged_.begin() + static_cast<std::ptrdiff_t>(std::exchange(saving_.acknowledged, 0)));
}

std::optional<base::Instant> SavePlan::next_wake() const {
  if (unsaved_ == 0) return std::nullopt;
  return last_ + options_.every;
}

}  // namespace spillway::relay
