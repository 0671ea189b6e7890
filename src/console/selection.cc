#include "console/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "config/quantity.h"

namespace spillway::console {
namespace {

std::optional<std::int64_t> parse_time(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int used = 0;
  const auto complete = [&] { return used == static_cast<int>(text.size()); };
  const bool date = std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &used) == 3 && complete();
  if (!date) {
    used = 0;
    const int fields =
        std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2uZ%n", &year, &month, &day, &hour, &minute, &second, &used);
    if (fields != 6 || !complete()) return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day ymd{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!ymd.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto at = sys_days{ymd} + hours{hour} + minutes{minute} + seconds{second};
  return duration_cast<microseconds>(at.time_since_epoch()).count();
}

}  // namespace

base::Result<Preview> preview(ports::OperatorSession& session, ports::SettlementFilter filter) {
  filter.open_only = true;
  filter.limit = kMostAtOnce + 1;
  auto found = session.settlements(filter);
  if (!found) return std::unexpected(found.error());
  Preview shown{.events = std::move(*found)};
  shown.more = shown.events.size() > kMostAtOnce;
  if (shown.more) shown.events.resize(kMostAtOnce);
  for (const model::Settlement& event : shown.events) {
    const std::int64_t since = event.since_unix_micros;
    shown.oldest_unix_micros = std::min(shown.oldest_unix_micros.value_or(since), since);
    shown.newest_unix_micros = std::max(shown.newest_unix_micros.value_or(since), since);
  }
  return shown;
}

base::Result<std::int64_t> resolve(ports::OperatorSession& session, ports::SettlementFilter filter,
                                   const Preview& shown, model::Verdict verdict, const std::string& reason,
                                   const std::string& who) {
  if (shown.events.empty()) return 0;
  filter.open_only = true;
  filter.limit = kMostAtOnce;
  filter.up_to_seq = shown.up_to_seq();
  // A row with a smaller seq may have been set aside since.
  const std::int64_t later = *shown.newest_unix_micros + 1;
  filter.before_unix_micros = std::min(filter.before_unix_micros.value_or(later), later);
  return session.resolve(filter, verdict, reason, who);
}

base::Result<std::int64_t> parse_before(const std::string& text, std::int64_t now_unix_micros) {
  if (const auto time = parse_time(text)) return *time;
  if (const auto span = config::parse_duration(text)) {
    return now_unix_micros - std::chrono::duration_cast<std::chrono::microseconds>(*span).count();
  }
  return base::fail(base::ErrorClass::kRejected,
                    fmt::format("\"{}\" is neither an age (30m, 2h, 7d) nor a time in UTC (2026-11-30, "
                                "2026-11-30T14:00:00Z)",
                                text));
}

base::Result<std::vector<base::Uuid>> parse_ids(const std::vector<std::string>& texts) {
  std::vector<base::Uuid> ids;
  std::string bad;
  for (const std::string& text : texts) {
    if (const auto id = base::parse_uuid(text)) {
      ids.push_back(*id);
    } else {
      bad += (bad.empty() ? "" : ", ") + ("\"" + text + "\"");
    }
  }
  if (bad.empty()) return ids;
  return base::fail(base::ErrorClass::kRejected,
                    bad + ": an event's id has 36 characters, as `reconcile list` shows it");
}

}  // namespace spillway::console
