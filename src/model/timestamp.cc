#include "model/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace spillway::model {
namespace {

constexpr std::int64_t kMinuteMicros = 60'000'000;

}  // namespace

RecordTime record_time(const Timestamp& created_at, std::int64_t db_now_micros) {
  const bool usable = created_at.kind == Timestamp::Kind::kFinite && created_at.unix_micros >= 0 &&
                      created_at.unix_micros <= db_now_micros + kMinuteMicros;
  return {(usable ? created_at.unix_micros : db_now_micros) / 1000, !usable};
}

std::string to_string(const Timestamp& timestamp) {
  switch (timestamp.kind) {
    case Timestamp::Kind::kNull: return "null";
    case Timestamp::Kind::kInfinity: return "infinity";
    case Timestamp::Kind::kMinusInfinity: return "-infinity";
    case Timestamp::Kind::kFinite: break;
  }
  using namespace std::chrono;
  const sys_time<microseconds> point{microseconds{timestamp.unix_micros}};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss time{point - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return text.data();
}

}  // namespace spillway::model
