// `created_at` as a row holds it, and the record time that Kafka gets for it.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::model {

// A point on the database's wall clock. PostgreSQL's timestamptz has infinities, adopted tables have NULL.
struct Timestamp {
  enum class Kind : std::uint8_t { kNull, kFinite, kInfinity, kMinusInfinity };

  Kind kind = Kind::kNull;
  std::int64_t unix_micros = 0;  // meaningful for kFinite only

  static constexpr Timestamp at(std::int64_t micros) { return {Kind::kFinite, micros}; }

  bool operator==(const Timestamp&) const = default;
};

// What is written as the record's time.
struct RecordTime {
  std::int64_t unix_millis = 0;
  bool replaced = false;  // the row's own time was unusable; it travels in the header `spillway-created-at`
};

// The row's time where it is usable: finite, not before 1970, at most a minute ahead of the database's clock (brokers
// from 4.0 refuse records stamped more than an hour ahead). Otherwise the database's clock.
RecordTime record_time(const Timestamp& created_at, std::int64_t db_now_micros);

// ISO 8601 in UTC with microseconds, "infinity", "-infinity" or "null".
std::string to_string(const Timestamp& timestamp);

}  // namespace spillway::model
