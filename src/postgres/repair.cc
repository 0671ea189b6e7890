#include "postgres/repair.h"

#include <fmt/format.h>

#include "postgres/progress_columns.h"

namespace spillway::postgres {

base::Result<Repaired> repair_restored(ConnectOptions connect, const std::string& outbox, const TableLayout& layout) {
  if (layout.marks_rows()) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("{} is read without transaction ids: there is nothing to repair", layout.name()));
  }
  connect.time_limit = std::chrono::hours(12);
  Connection connection(std::move(connect));
  const std::string table = layout.qualified();
  const std::string name = literal(outbox);
  const auto foreign = connection.ask(
      fmt::format("select exists (select from spillway.schema_version where system_identifier <> here.id) or "
                  "exists (select from spillway.progress where outbox = {} and system_identifier <> here.id) or "
                  "exists (select from {} where {} >= pg_snapshot_xmax(pg_current_snapshot())) "
                  "from (select system_identifier as id from pg_control_system()) here",
                  name, table, identifier(layout.tx)));
  if (!foreign) return std::unexpected(foreign.error());
  if (!foreign->flag(0, 0)) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("{} belongs to this database cluster: there is nothing to repair", layout.name()));
  }
  // A row with a seq beyond the progress's high_seq was written here, after the restore: by the old snapshots its small
  // id would count as finished.
  const auto answers = connection.script(fmt::format(
      "begin; lock table {0} in share row exclusive mode; lock table spillway.lease in exclusive mode; "
      "with place as (select * from spillway.progress where outbox = {1}), "
      "judged as (select o.{2} as seq, coalesce((select {4} and k.seq <= place.high_seq from place, "
      "(select o.{2} as seq, o.{3} as tx) k), false) as finished from {0} o), "
      "changed as (update {0} o set {3} = case when finished then '3'::xid8 else pg_current_xact_id() end "
      "from judged where o.{2} = judged.seq returning judged.finished) "
      "select count(*) filter (where finished), count(*) filter (where not finished) from changed; "
      "delete from spillway.saved_positions where outbox = {1}; "
      "update spillway.progress set live_from = format('%1$s:%1$s:', pg_current_xact_id()), live_to = '', "
      "live_last = null, backlog = '[]', system_identifier = (select system_identifier from pg_control_system()) "
      "where outbox = {1}; "
      "update spillway.schema_version set system_identifier = (select system_identifier from pg_control_system()); "
      "update spillway.lease set holder = null, expires_at = clock_timestamp(), epoch = epoch + 1 where outbox = {1}; "
      "insert into spillway.audit (outbox, who, what, reason) values "
      "({1}, current_user, 'repair_restored', 'the table came from another cluster'); commit",
      table, name, identifier(layout.seq), identifier(layout.tx), finished_sql("k", "place")));
  if (!answers) return std::unexpected(answers.error());
  return Repaired{answers->front().number(0, 0), answers->front().number(0, 1)};
}

}  // namespace spillway::postgres
