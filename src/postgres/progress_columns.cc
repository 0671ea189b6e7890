#include "postgres/progress_columns.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "postgres/snapshot.h"

namespace spillway::postgres {
namespace {

Value maybe(const std::optional<std::int64_t>& number) {
  return number ? Value(std::to_string(*number)) : std::nullopt;
}

}  // namespace

std::vector<Value> progress_values(const ports::Progress& progress) {
  nlohmann::json backlog = nlohmann::json::array();
  for (const ports::Interval& interval : progress.backlog) {
    nlohmann::json entry{
        {"from", interval.at.frame.from}, {"to", interval.at.frame.to}, {"began", interval.began_unix_micros}};
    if (interval.at.last_seq) entry["last"] = *interval.at.last_seq;
    if (interval.judged) entry["judged"] = *interval.judged;
    backlog.push_back(std::move(entry));
  }
  return {progress.live.frame.from,
          progress.live.frame.to,
          maybe(progress.live.last_seq),
          backlog.dump(),
          std::to_string(progress.read_up_to_unix_micros),
          fmt::format("{}", progress.capacity)};
}

base::Result<ports::Progress> progress_from(const Answer& answer, int row, int column) {
  ports::Progress progress;
  progress.live = {{std::string(answer.text(row, column)), std::string(answer.text(row, column + 1))},
                   answer.maybe_number(row, column + 2)};
  const auto backlog = nlohmann::json::parse(answer.text(row, column + 3), nullptr, false);
  const auto broken = [] {
    return base::fail(base::ErrorClass::kMisconfigured,
                      "spillway.progress holds a backlog that Spillway did not write: restore the row, or delete it to "
                      "begin again with the oldest row of the outbox");
  };
  if (!backlog.is_array()) return broken();
  for (const auto& entry : backlog) {
    if (!entry.is_object() || !entry.contains("from") || !entry.contains("to")) return broken();
    if (!entry["from"].is_string() || !entry["to"].is_string()) return broken();
    const auto number = [&entry](const char* name) -> std::optional<std::int64_t> {
      const auto found = entry.find(name);
      if (found == entry.end() || !found->is_number_integer()) return std::nullopt;
      return found->get<std::int64_t>();
    };
    progress.backlog.push_back({{{entry["from"].get<std::string>(), entry["to"].get<std::string>()}, number("last")},
                                number("began").value_or(0),
                                number("judged")});
  }
  progress.read_up_to_unix_micros = answer.number(row, column + 4);
  progress.capacity = answer.maybe_real(row, column + 5).value_or(0);
  for (const std::string* text : {&progress.live.frame.from, &progress.live.frame.to}) {
    if (!parse_snapshot(*text)) return broken();
  }
  return progress;
}

std::string finished_sql(const std::string& row, const std::string& place) {
  const auto sees = [&](const std::string& snapshot) {
    return fmt::format("pg_visible_in_snapshot({}.tx, coalesce(nullif({}, ''), '{}')::pg_snapshot)", row, snapshot,
                       kSeesNothing);
  };
  return fmt::format(
      "(({} or coalesce({} and {}.seq <= {}.live_last, false)) and not exists ("
      "select from jsonb_to_recordset({}.backlog) as b(\"from\" text, \"to\" text, \"last\" bigint) "
      "where {} and not {} and (b.\"last\" is null or {}.seq > b.\"last\")))",
      sees(place + ".live_from"), sees(place + ".live_to"), row, place, place, sees("b.\"to\""), sees("b.\"from\""),
      row);
}

}  // namespace spillway::postgres
