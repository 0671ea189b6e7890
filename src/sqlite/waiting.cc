#include "sqlite/waiting.h"

#include <algorithm>
#include <vector>

#include "model/timestamp.h"
#include "sqlite/place.h"
#include "sqlite/row_columns.h"
#include "sqlite/session.h"

namespace spillway::sqlite {
namespace {

constexpr std::int64_t kCountedRows = 10'000;
constexpr std::int64_t kSampledRows = 100;

// Oldest first, so that the first row found is the oldest.
std::vector<Place> unfinished(Connection& connection, const ports::Progress& progress) {
  std::vector<Place> places;
  for (const auto& interval : progress.backlog) places.push_back(place_of(interval.at));
  places.push_back(place_of(progress.live));
  // Rows after the frame that live is in wait just as those inside it.
  places.back().to = std::max(newest_seq(connection), places.back().after);
  return places;
}

std::int64_t counted(Connection& connection, const Place& place, std::int64_t limit) {
  auto count = connection.use(
      "SELECT count(*) FROM (SELECT 1 FROM spillway_outbox AS o WHERE seq > ? AND seq <= ?"
      " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq) LIMIT ?)");
  count.bind(place.after).bind(*place.to).bind(limit).step();
  return count.integer(0);
}

void sample(Connection& connection, const Place& place, Waiting& waiting) {
  auto sizes = connection.use(
      "SELECT avg(coalesce(length(CAST(payload AS BLOB)), 0) + coalesce(length(headers), 0) + length(aggregatetype) +"
      " length(aggregateid) + length(type)) FROM (SELECT * FROM spillway_outbox WHERE seq > ? AND seq <= ?"
      " ORDER BY seq LIMIT ?)");
  sizes.bind(place.after).bind(*place.to).bind(kSampledRows).step();
  waiting.bytes = static_cast<std::int64_t>(sizes.real(0) * static_cast<double>(waiting.rows));
}

std::optional<double> age_of_first(Connection& connection, const Place& place) {
  auto first = connection.use("SELECT " SPILLWAY_SQLITE_ROW_COLUMNS
                              " FROM spillway_outbox AS o WHERE seq > ? AND seq <= ?"
                              " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq)"
                              " ORDER BY seq LIMIT 1");
  if (!first.bind(place.after).bind(*place.to).step()) return std::nullopt;
  model::Page page;
  append_row(first, connection.path(), page);
  // The time that its record would carry: one that is no time, or far from now, says nothing about how long it waited.
  const std::int64_t now = now_millis(connection);
  const auto time = model::record_time(page.rows.front().created_at, now * 1000);
  return std::max(0.0, static_cast<double>(now - time.unix_millis) / 1000.0);
}

}  // namespace

Waiting waiting_behind(Connection& connection, const ports::Progress& progress) {
  Waiting waiting;
  const auto places = unfinished(connection, progress);
  std::int64_t by_seq = 0;
  for (const auto& place : places) {
    by_seq += std::max<std::int64_t>(*place.to - place.after, 0);
    if (waiting.rows <= kCountedRows) waiting.rows += counted(connection, place, kCountedRows + 1 - waiting.rows);
    if (!waiting.oldest_age_s) waiting.oldest_age_s = age_of_first(connection, place);
  }
  if (waiting.rows > kCountedRows) {
    waiting.estimated = true;
    waiting.rows = by_seq;
  }
  if (waiting.rows > 0) sample(connection, places.front(), waiting);
  return waiting;
}

bool waits_behind(const ports::Progress& progress, std::int64_t seq) {
  if (seq > place_of(progress.live).after) return true;
  return std::ranges::any_of(progress.backlog, [seq](const ports::Interval& interval) {
    const Place place = place_of(interval.at);
    return seq > place.after && seq <= place.to.value_or(seq);
  });
}

}  // namespace spillway::sqlite
