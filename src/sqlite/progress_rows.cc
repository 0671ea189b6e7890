#include "sqlite/progress_rows.h"

#include <algorithm>

#include "sqlite/place.h"

namespace spillway::sqlite {
namespace {

constexpr std::int64_t kHourMillis = 3'600'000;

void store_lane(Connection& connection, const std::string& name, std::int64_t lane, const ports::Interval& interval,
                std::int64_t read_up_to, double capacity, std::int64_t now_millis) {
  auto upsert = connection.use(
      "INSERT INTO spillway_progress (name, lane, frame_from, frame_to, last_seq, saved_at, read_up_to, began, judged,"
      " capacity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (name, lane) DO UPDATE SET frame_from = excluded.frame_from, frame_to = excluded.frame_to,"
      " last_seq = excluded.last_seq, saved_at = excluded.saved_at, read_up_to = excluded.read_up_to,"
      " began = excluded.began, judged = excluded.judged, capacity = excluded.capacity");
  upsert.bind(name).bind(lane).bind(interval.at.frame.from).bind(interval.at.frame.to);
  upsert.bind(interval.at.last_seq).bind(now_millis).bind(read_up_to).bind(interval.began_unix_micros);
  upsert.bind(interval.judged).bind_real(capacity).run();
}

// One row an hour for cleanup, which thereby knows how long rows have been finished.
void keep_hourly(Connection& connection, const std::string& name, std::int64_t finished, std::int64_t now_millis) {
  auto insert = connection.use(
      "INSERT INTO spillway_finished (name, at, seq) SELECT ?1, ?2, ?3"
      " WHERE NOT EXISTS (SELECT 1 FROM spillway_finished WHERE name = ?1 AND at > ?2 - ?4)"
      " ON CONFLICT DO NOTHING");
  insert.bind(name).bind(now_millis).bind(finished).bind(kHourMillis).run();
}

}  // namespace

ports::Progress load_progress(Connection& connection, const std::string& name) {
  ports::Progress progress;
  auto lanes = connection.use(
      "SELECT lane, frame_from, frame_to, last_seq, read_up_to, began, judged, capacity FROM spillway_progress"
      " WHERE name = ? ORDER BY lane");
  lanes.bind(name);
  while (lanes.step()) {
    model::Position position{{std::string(lanes.text(1)), std::string(lanes.text(2))}, lanes.optional_integer(3)};
    if (lanes.integer(0) == 0) {
      progress.live = std::move(position);
      progress.read_up_to_unix_micros = lanes.integer(4);
      progress.capacity = lanes.real(7);
    } else {
      progress.backlog.push_back({std::move(position), lanes.integer(5), lanes.optional_integer(6)});
    }
  }
  return progress;
}

void store_progress(Connection& connection, const std::string& name, const ports::Progress& progress,
                    std::int64_t now_millis) {
  std::int64_t lane = 0;
  store_lane(connection, name, lane, {progress.live}, progress.read_up_to_unix_micros, progress.capacity, now_millis);
  for (const auto& interval : progress.backlog) store_lane(connection, name, ++lane, interval, 0, 0, now_millis);
  auto rest = connection.use("DELETE FROM spillway_progress WHERE name = ? AND lane > ?");
  rest.bind(name).bind(lane).run();
  keep_hourly(connection, name, finished_up_to(progress), now_millis);
}

std::int64_t finished_up_to(const ports::Progress& progress) {
  std::int64_t least = place_of(progress.live).after;
  for (const auto& interval : progress.backlog) least = std::min(least, place_of(interval.at).after);
  return least;
}

std::optional<std::int64_t> saved_at_millis(Connection& connection, const std::string& name) {
  auto saved = connection.use("SELECT saved_at FROM spillway_progress WHERE name = ? AND lane = 0");
  if (!saved.bind(name).step()) return std::nullopt;
  return saved.integer(0);
}

}  // namespace spillway::sqlite
