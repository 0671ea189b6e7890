#include "sqlite/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sqlite/place.h"
#include "sqlite/row_columns.h"

namespace spillway::sqlite {
namespace {

constexpr char kFollowing[] = "SELECT " SPILLWAY_SQLITE_ROW_COLUMNS
                              " FROM spillway_outbox AS o WHERE seq > ? AND seq <= ?"
                              " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq)"
                              " ORDER BY seq";
constexpr char kOfKey[] =
    "SELECT 1 FROM spillway_outbox AS o WHERE aggregateid = ? AND seq > ? AND seq <= ? AND seq < ?"
    " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq) LIMIT 1";
constexpr char kRowsOfKey[] = "SELECT " SPILLWAY_SQLITE_ROW_COLUMNS
                              " FROM spillway_outbox AS o WHERE aggregateid = ? AND seq > ? AND seq <= ?"
                              " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq)"
                              " ORDER BY seq";
constexpr char kOne[] = "SELECT " SPILLWAY_SQLITE_ROW_COLUMNS " FROM spillway_outbox WHERE seq = ?";

void check_incarnation(Connection& connection, const std::string& expected) {
  if (incarnation(connection) == expected) return;
  throw Failure(base::ErrorClass::kLostPlace, fmt::format("{} was replaced by another file", connection.path()));
}

model::Page read_following(Connection& connection, const model::Position& from, ports::ReadLimits limits) {
  const Place place = place_of(from);
  const std::int64_t newest = newest_seq(connection);
  if (place.after > newest) {
    throw Failure(base::ErrorClass::kLostPlace,
                  fmt::format("{} was put back to an earlier state: its newest seq is {}, and {} was read already",
                              connection.path(), newest, place.after));
  }
  model::Page page;
  page.db_now_micros = now_millis(connection) * 1000;
  const std::int64_t to = place.to.value_or(newest);
  page.frame = {from.frame.from.empty() ? "0" : from.frame.from, fmt::to_string(to)};

  auto rows = connection.use(kFollowing);
  rows.bind(place.after).bind(to);
  std::size_t bytes = 0;
  while (rows.step()) {
    if (page.rows.size() == limits.rows || bytes >= limits.bytes) {
      page.more = true;
      break;
    }
    bytes += append_row(rows, connection.path(), page);
  }
  page.next = page.more ? model::Position{page.frame, page.rows.back().seq} : open_after(to);
  return page;
}

model::Page read_listed(Connection& connection, std::span<const std::int64_t> seqs, ports::ReadLimits limits) {
  model::Page page;
  page.db_now_micros = now_millis(connection) * 1000;
  auto one = connection.use(kOne);
  std::size_t bytes = 0;
  for (std::int64_t seq : seqs) {
    if (page.rows.size() == limits.rows || bytes >= limits.bytes) {
      page.more = true;
      break;
    }
    one.reset();
    if (one.bind(seq).step()) bytes += append_row(one, connection.path(), page);
  }
  return page;
}

}  // namespace

base::Result<model::Page> Reader::read(const model::Position& from, const std::string& expected_incarnation,
                                       ports::ReadLimits limits) {
  limits.rows = std::max<std::size_t>(limits.rows, 1);
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    check_incarnation(connection, expected_incarnation);
    return read_following(connection, from, limits);
  });
}

base::Result<model::Page> Reader::read_again(std::span<const std::int64_t> seqs,
                                             const std::string& expected_incarnation, ports::ReadLimits limits) {
  limits.rows = std::max<std::size_t>(limits.rows, 1);
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    check_incarnation(connection, expected_incarnation);
    return read_listed(connection, seqs, limits);
  });
}

base::Result<model::Page> Reader::read_keys(std::span<const ports::KeyAfter> keys,
                                            std::span<const model::Position> places,
                                            const std::string& expected_incarnation, ports::ReadLimits limits) {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    check_incarnation(connection, expected_incarnation);
    model::Page page;
    page.db_now_micros = now_millis(connection) * 1000;
    auto rows = connection.use(kRowsOfKey);
    std::size_t bytes = 0;
    for (const ports::KeyAfter& wanted : keys) {
      for (const model::Position& position : places) {
        const Place place = place_of(position);
        rows.reset();
        rows.bind(wanted.key).bind(std::max(place.after, wanted.after)).bind(*place.to);
        while (rows.step()) {
          if (page.rows.size() >= limits.rows || bytes >= limits.bytes) {
            page.more = true;
            return page;
          }
          bytes += append_row(rows, connection.path(), page);
        }
      }
    }
    return page;
  });
}

base::Result<std::vector<std::size_t>> Reader::keys_behind(std::span<const ports::KeyBefore> keys,
                                                           std::span<const model::Position> places,
                                                           const std::string& expected_incarnation) {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    check_incarnation(connection, expected_incarnation);
    auto row = connection.use(kOfKey);
    const auto waits = [&](const ports::KeyBefore& wanted) {
      return std::ranges::any_of(places, [&](const model::Position& position) {
        const Place place = place_of(position);
        row.reset();
        return row.bind(wanted.key).bind(place.after).bind(*place.to).bind(wanted.before).step();
      });
    };
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (waits(keys[i])) found.push_back(i);
    }
    return found;
  });
}

}  // namespace spillway::sqlite
