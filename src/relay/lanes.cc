#include "relay/lanes.h"

#include <algorithm>

namespace spillway::relay {

Batch* Interval::take(model::Page page) {
  Batch* batch = lane_.take(std::move(page));
  const model::Position& next = lane_.read_from();
  if (next.frame.to.empty() && next.frame.from != end_) lane_.read_on_from({{next.frame.from, end_}, std::nullopt});
  return batch;
}

void Interval::start_over(Ordinal range) {
  model::Position place = lane_.window().position();
  if (place.frame.to.empty() && place.frame.from != end_) place.frame.to = end_;
  lane_ = Lane(std::move(place), range);
}

void Interval::rest_from(const model::Position& place, std::vector<model::Position>& places) const {
  if (place.frame.to.empty()) {
    if (place.frame.from != end_) places.push_back({{place.frame.from, end_}, std::nullopt});
    return;
  }
  places.push_back(place);
  if (place.frame.to != end_) places.push_back({{place.frame.to, end_}, std::nullopt});
}

void Interval::save_to(std::vector<ports::Interval>& backlog) const {
  for (ports::Interval& stretch : judged_.from(lane_.window().position(), end_, began_)) {
    backlog.push_back(std::move(stretch));
  }
}

void Interval::unplaced_to(std::vector<model::Position>& places) const {
  for (const Batch& batch : lane_.batches()) {
    if (batch.done()) continue;
    // Before the first row that is not placed; within a page the one before it says where.
    const std::int64_t seq = batch.page.rows[batch.next].seq;
    rest_from({batch.page.frame, seq - 1}, places);
    return;
  }
  rest_from(lane_.read_from(), places);
}

bool Interval::take_verdicts(std::int64_t recorded) {
  bool taken = false;
  for (const Batch& batch : lane_.batches()) {
    if (batch.ready || batch.verdicts > recorded) continue;
    judged_.up_to(batch.page.frame, batch.page.rows.back().seq);
    taken = true;
  }
  return taken;
}

void Interval::verdicts_saved() {
  for (Batch& batch : lane_.batches()) {
    batch.ready = batch.ready || judged(batch.page.frame, batch.page.rows.back().seq);
  }
}

Lanes::Lanes(const ports::Progress& progress) {
  for (const ports::Interval& interval : progress.backlog) {
    backlog_.emplace_back(Lane(interval.at, ++ranges_), interval.at.frame.to, interval.began_unix_micros,
                          Judged(interval));
  }
  live_ = Lane(progress.live, ++ranges_);
}

void Lanes::split(std::int64_t began_unix_micros) {
  const model::Frame& read = live_.read_from().frame;
  std::string end = read.to.empty() ? read.from : read.to;
  Lane fresh({{end, ""}, std::nullopt}, ++ranges_);
  backlog_.emplace_back(std::exchange(live_, std::move(fresh)), std::move(end), began_unix_micros, Judged());
  start_over(backlog_.back());
  drop_finished();
}

std::deque<Interval>::const_iterator Lanes::interval_of(Ordinal ordinal) const {
  return std::ranges::find_if(backlog_, [ordinal](const Interval& interval) { return interval.lane().holds(ordinal); });
}

Window* Lanes::window_of(Ordinal ordinal) {
  if (is_live(ordinal)) return &live_.window();
  const auto found = interval_of(ordinal);
  if (found == backlog_.end()) return nullptr;
  return &backlog_[static_cast<std::size_t>(found - backlog_.begin())].lane().window();
}

bool Lanes::finish(Ordinal ordinal) {
  Window* window = window_of(ordinal);
  if (window != nullptr) window->finish(ordinal);
  return window != nullptr;
}

bool Lanes::recorded(Ordinal ordinal) {
  Window* window = window_of(ordinal);
  if (window != nullptr) window->recorded(ordinal);
  return window != nullptr;
}

void Lanes::drop_finished() {
  std::erase_if(backlog_, [](const Interval& interval) { return interval.finished(); });
}

Interval* Lanes::to_read() {
  const auto found = std::ranges::find_if(backlog_, [](const Interval& interval) { return !interval.read_whole(); });
  return found == backlog_.end() ? nullptr : &*found;
}

std::size_t Lanes::batches_behind() const {
  std::size_t batches = 0;
  for (const Interval& interval : backlog_) batches += interval.lane().batches().size();
  return batches;
}

std::size_t Lanes::open() const {
  std::size_t rows = live_.window().open();
  for (const Interval& interval : backlog_) rows += interval.lane().window().open();
  return rows;
}

std::vector<model::Position> Lanes::unplaced_backlog() const {
  std::vector<model::Position> places;
  for (const Interval& interval : backlog_) interval.unplaced_to(places);
  return places;
}

std::vector<model::Position> Lanes::unfinished_backlog() const {
  std::vector<ports::Interval> saved;
  for (const Interval& interval : backlog_) interval.save_to(saved);
  std::vector<model::Position> places;
  for (ports::Interval& interval : saved) places.push_back(std::move(interval.at));
  return places;
}

bool Lanes::take_verdicts(std::int64_t recorded) {
  bool taken = false;
  for (Interval& interval : backlog_) taken = interval.take_verdicts(recorded) || taken;
  return taken;
}

void Lanes::verdicts_saved() {
  for (Interval& interval : backlog_) interval.verdicts_saved();
}

ports::Progress Lanes::progress() const {
  ports::Progress progress;
  progress.live = live_.window().position();
  for (const Interval& interval : backlog_) interval.save_to(progress.backlog);
  return progress;
}

}  // namespace spillway::relay
