// The live lane, and what was left behind when a recovery began: intervals of backlog, oldest first. No row is in two
// of them and none in neither, whatever the clocks say: the border is a place in the outbox.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ports/outbox_store.h"
#include "relay/judged.h"
#include "relay/lane.h"

namespace spillway::relay {

// A closed stretch of the outbox. Where it spans several frames they follow one another.
class Interval {
 public:
  Interval(Lane lane, std::string end, std::int64_t began_unix_micros, Judged judged)
      : lane_(std::move(lane)), end_(std::move(end)), began_(began_unix_micros), judged_(std::move(judged)) {}

  Lane& lane() { return lane_; }
  const Lane& lane() const { return lane_; }
  std::int64_t began_unix_micros() const { return began_; }

  Batch* take(model::Page page);
  bool read_whole() const { return lane_.read_from().frame.from == end_ && lane_.read_from().frame.to.empty(); }
  bool finished() const { return read_whole() && lane_.window().empty(); }

  // From what is not finished on it is read again, into ordinals of `range`.
  void start_over(Ordinal range);

  // What is not finished, as it is saved.
  void save_to(std::vector<ports::Interval>& backlog) const;
  // What is not on its way yet.
  void unplaced_to(std::vector<model::Position>& places) const;

  // Rows up to this one have their verdict.
  bool judged(const model::Frame& frame, std::int64_t seq) const { return judged_.covers(frame, seq); }
  // Pages that are not ready and have their verdicts on record now, by `recorded` settlements: the place up to which
  // they reach is saved from now on. Whether there are any.
  bool take_verdicts(std::int64_t recorded);
  // It has been saved: the pages up to it are ready.
  void verdicts_saved();

 private:
  // `place` and the rest up to the end.
  void rest_from(const model::Position& place, std::vector<model::Position>& places) const;

  Lane lane_;
  std::string end_;
  std::int64_t began_;
  Judged judged_;
};

class Lanes {
 public:
  Lanes() = default;
  explicit Lanes(const ports::Progress& progress);

  Lane& live() { return live_; }
  const Lane& live() const { return live_; }
  std::deque<Interval>& backlog() { return backlog_; }
  const std::deque<Interval>& backlog() const { return backlog_; }

  // All that was read into live and is not finished, and the rest of the frame that is being read, becomes backlog, and
  // is read again as that.
  void split(std::int64_t began_unix_micros);
  void start_over(Interval& interval) { interval.start_over(++ranges_); }

  // Whether it is the ordinal of a row in one of the lanes, and not of one that has started over.
  bool holds(Ordinal ordinal) const { return is_live(ordinal) || interval_of(ordinal) != backlog_.end(); }
  // Nothing happens, and they return false, where it is not.
  bool finish(Ordinal ordinal);
  bool recorded(Ordinal ordinal);
  bool is_live(Ordinal ordinal) const { return live_.holds(ordinal); }
  // Intervals with nothing left to do are dropped.
  void drop_finished();

  // The interval to read next; null where all is read.
  Interval* to_read();
  std::size_t batches_behind() const;  // of the backlog, in memory

  std::size_t open() const;  // rows that were read and are not finished

  std::vector<model::Position> unplaced_backlog() const;
  std::vector<model::Position> unfinished_backlog() const;

  // Of all intervals.
  bool take_verdicts(std::int64_t recorded);
  void verdicts_saved();

  ports::Progress progress() const;

 private:
  std::deque<Interval>::const_iterator interval_of(Ordinal ordinal) const;
  Window* window_of(Ordinal ordinal);

  Ordinal ranges_ = 0;  // that lanes were given
  Lane live_;
  std::deque<Interval> backlog_;
};

}  // namespace spillway::relay
