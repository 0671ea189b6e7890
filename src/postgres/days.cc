#include "postgres/days.h"

#include <fmt/format.h>

#include <array>

#include "postgres/fence.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

constexpr int kMostDays = 8;  // of today and the seven after it

}  // namespace

base::Result<Days> look_at_days(Connection& connection, const TableLayout& layout) {
  Days days;
  if (layout.adopted) return days;
  days.add_day = identifier(layout.schema) + "." + identifier(layout.table + "_add_day");
  days.drop_day = identifier(layout.schema) + "." + identifier(layout.table + "_drop_day");
  const auto answer = connection.ask(
      "select p.partrelid is not null, add is not null and drop is not null, "
      "coalesce(has_function_privilege(add, 'execute'), false), "
      "coalesce(has_function_privilege(drop, 'execute'), false), "
      "case when has_table_privilege(p.partdefid, 'select') and has_table_privilege(p.partdefid, 'delete') "
      "and not exists (select from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = p.partrelid "
      "and c.oid <> p.partdefid and c.relname !~ '_[0-9]{8}$') "
      "then (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = "
      "c.relnamespace "
      "where c.oid = p.partdefid) end "
      "from (select to_regclass($1) as outbox, to_regproc($2)::oid as add, to_regproc($3)::oid as drop) named "
      "left join pg_partitioned_table p on p.partrelid = outbox",
      std::array<Value, 3>{layout.qualified(), days.add_day, days.drop_day});
  if (!answer) return std::unexpected(answer.error());
  days.partitioned = answer->flag(0, 0);
  days.installed = answer->flag(0, 1);
  days.may_add = answer->flag(0, 2);
  days.may_drop = answer->flag(0, 3);
  days.default_partition = answer->text(0, 4);
  return days;
}

base::Status add_days(Connection& connection, const TableLayout& layout) {
  const auto days = look_at_days(connection, layout);
  if (!days) return std::unexpected(days.error());
  if (!days->partitioned) return {};
  if (!days->installed || !days->may_add) {
    return base::fail(
        ErrorClass::kMisconfigured,
        fmt::format("no partitions by day are added to {}, whose rows all go into the DEFAULT partition: {}",
                    layout.name(),
                    days->installed ? fmt::format("grant execute on function {}, {} to this user, or use the role "
                                                  "spillway_relay that `spillway init --roles` makes",
                                                  days->add_day, days->drop_day)
                                    : "run `spillway init` as the owner of the table"));
  }
  for (int day = 0; day < kMostDays; ++day) {
    const auto added = connection.ask(fmt::format("select {}()", days->add_day));
    if (added && added->is_null(0, 0)) return {};
    if (added) continue;
    base::Error error = added.error();
    if (error.error_class == ErrorClass::kRejected) {
      error.message +=
          fmt::format("; in a quiet moment run select {}(largest => null) until it returns null", days->add_day);
    }
    return std::unexpected(std::move(error));
  }
  return {};
}

base::Result<std::string> drop_day(Connection& connection, const Days& days, const std::string& outbox,
                                   const ports::Fence& fence, std::chrono::seconds keep) {
  const FencedWrite drop{
      fmt::format("dropped as materialized (select {}($1, $5::bigint) as day from fence where holds)", days.drop_day),
      "(select day from dropped)"};
  const auto answer = write_fenced(connection, outbox, fence, drop, {std::to_string(keep.count())});
  if (!answer) return std::unexpected(answer.error());
  return std::string(answer->text(0, 0));
}

}  // namespace spillway::postgres
