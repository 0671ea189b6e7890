#include "postgres/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "postgres/schema.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

std::unexpected<base::Error> refuse(std::string message) {
  return base::fail(ErrorClass::kMisconfigured, std::move(message));
}

class Inspection {
 public:
  Inspection(Connection& connection, const std::string& outbox, const TableLayout& layout)
      : connection_(connection), outbox_(outbox), layout_(layout), table_(layout.qualified()), name_(layout.name()) {}

  base::Result<std::vector<std::string>> run() {
    for (const auto step : {&Inspection::server, &Inspection::table, &Inspection::side_tables, &Inspection::columns,
                            &Inspection::adopted_columns, &Inspection::indexes, &Inspection::rights,
                            &Inspection::sequence, &Inspection::cluster, &Inspection::owner}) {
      if (auto status = (this->*step)(); !status) return std::unexpected(status.error());
    }
    return std::move(warnings_);
  }

 private:
  base::Result<Answer> ask(const std::string& sql, std::initializer_list<Value> values = {}) {
    return connection_.ask(sql, std::span(values.begin(), values.size()));
  }

  base::Status server() {
    const auto answer =
        ask("select current_setting('server_version_num')::int, current_setting('server_version'), "
            "pg_is_in_recovery()");
    if (!answer) return std::unexpected(answer.error());
    if (answer->number(0, 0) < 130000) {
      return refuse(fmt::format("PostgreSQL {} is too old: Spillway needs 13 or later", answer->text(0, 1)));
    }
    if (answer->flag(0, 2)) {
      return base::fail(ErrorClass::kUnavailable, "PostgreSQL is a standby: waiting for a primary");
    }
    return {};
  }

  base::Status table() {
    const auto answer =
        ask("select c.relkind, c.relpersistence, row_security_active(c.oid) from pg_class c "
            "where c.oid = to_regclass($1)",
            {table_});
    if (!answer) return std::unexpected(answer.error());
    if (answer->rows() == 0) {
      return refuse(fmt::format("the table {} does not exist: {}correct outbox.table", name_,
                                layout_.adopted ? "" : "run `spillway init`, or "));
    }
    const std::string_view kind = answer->text(0, 0);
    if (kind != "r" && kind != "p") return refuse(fmt::format("{} is not a table", name_));
    if (answer->flag(0, 2)) {
      return refuse(
          fmt::format("row security hides rows of {} from this user: grant it BYPASSRLS, or rows are lost", name_));
    }
    if (answer->text(0, 1) == "u") {
      warnings_.push_back(
          fmt::format("{} is UNLOGGED: a crash of PostgreSQL empties it; use ALTER TABLE … SET LOGGED", name_));
    }
    return {};
  }

  base::Status side_tables() {
    const auto found = ask("select to_regclass('spillway.schema_version') is not null");
    if (!found) return std::unexpected(found.error());
    if (!found->flag(0, 0))
      return refuse("the schema spillway is missing or not accessible to this user: run `spillway init`");
    const auto version = ask("select max(version) from spillway.schema_version");
    if (!version) return std::unexpected(version.error());
    if (version->number(0, 0) != kSchemaVersion) {
      return refuse(fmt::format(
          "the schema is of version {} and this Spillway needs {}: {}", version->number(0, 0), kSchemaVersion,
          version->number(0, 0) < kSchemaVersion ? "run `spillway init`" : "use the newer program"));
    }
    return {};
  }

  base::Status columns() {
    for (const std::string* name :
         {&layout_.seq, &layout_.id, &layout_.aggregate_type, &layout_.aggregate_id, &layout_.type, &layout_.payload,
          &layout_.headers, &layout_.header_values, &layout_.created_at, &layout_.tx, &layout_.status}) {
      if (name->empty()) continue;
      const auto found = type_of(*name);
      if (!found) return std::unexpected(found.error());
      const std::string& type = *found;
      if (type.empty()) {
        return refuse(fmt::format("{} has no column {}: {}name the column in outbox.columns", name_, *name,
                                  layout_.adopted ? "" : "run `spillway init`, or "));
      }
      if (name == &layout_.tx && type != "xid8") {
        return refuse(fmt::format("the column {} of {} is {}: expected xid8", *name, name_, type));
      }
      if (name == &layout_.payload && type == "jsonb") {
        warnings_.push_back(
            fmt::format("the payload of {} is jsonb: events carry PostgreSQL's rendering, not the writer's "
                        "bytes",
                        name_));
      }
    }
    return {};
  }

  // Empty where there is no such column.
  base::Result<std::string> type_of(const std::string& column) {
    const auto answer =
        ask("select format_type(atttypid, null) from pg_attribute where attrelid = to_regclass($1) "
            "and attname = $2 and not attisdropped and attnum > 0",
            {table_, column});
    if (!answer) return std::unexpected(answer.error());
    return answer->rows() == 0 ? std::string() : std::string(answer->text(0, 0));
  }

  base::Status expect_type(const char* key, const std::string& column, std::initializer_list<std::string_view> types) {
    if (column.empty()) return {};
    const auto type = type_of(column);
    if (!type) return std::unexpected(type.error());
    if (std::ranges::find(types, *type) != types.end()) return {};
    return refuse(fmt::format("the column {} of {} is {}: expected {}; name another in outbox.columns.{}", column,
                              name_, *type, fmt::join(types, ", "), key));
  }

  // What `init` sees to in a table of its own.
  base::Status adopted_columns() {
    if (!layout_.adopted) return {};
    const auto order = type_of(layout_.seq);
    if (!order) return std::unexpected(order.error());
    if (*order != "bigint" && *order != "integer" && *order != "smallint") {
      return refuse(fmt::format(
          "the rows of {} have no order: its column {} is {}; name a column of whole numbers that grows with "
          "every insert in outbox.columns.order",
          name_, layout_.seq, *order));
    }
    constexpr std::string_view kTime = "timestamp with time zone";
    constexpr std::string_view kLocalTime = "timestamp without time zone";
    for (const base::Status& status :
         {expect_type("payload", layout_.payload, {"text", "character varying", "character", "bytea", "json", "jsonb"}),
          layout_.header_values.empty() ? expect_type("headers", layout_.headers, {"jsonb", "json", "text"})
                                        : expect_type("headers", layout_.headers, {"text[]"}),
          expect_type("created_at", layout_.created_at, {kTime, kLocalTime})}) {
      if (!status) return status;
    }
    if (!layout_.status.empty() && (layout_.status_pending.empty() || layout_.status_done.empty())) {
      const auto type = type_of(layout_.status);
      if (!type) return std::unexpected(type.error());
      const bool time = *type == kTime || *type == kLocalTime;
      if (!time || !layout_.status_pending.empty()) {
        return refuse(
            fmt::format("the column {} of {} is {}: its value before publication belongs in "
                        "outbox.columns.status_pending and the one after it in outbox.columns.status_done; only a "
                        "timestamp that is NULL before needs neither",
                        layout_.status, name_, *type));
      }
    }
    if (layout_.marks_rows()) return {};
    const auto tx =
        ask("select a.attnotnull and coalesce(pg_get_expr(d.adbin, d.adrelid) like "
            "'%pg_current_xact_id()%', false) from pg_attribute a left join pg_attrdef d on "
            "d.adrelid = a.attrelid and d.adnum = a.attnum where a.attrelid = to_regclass($1) "
            "and a.attname = $2",
            {table_, layout_.tx});
    if (!tx) return std::unexpected(tx.error());
    if (!tx->flag(0, 0)) {
      return refuse(fmt::format(
          "the column {1} of {0} is not NOT NULL DEFAULT pg_current_xact_id(), so that rows would be missed: "
          "alter it, or leave out outbox.columns.tx",
          name_, layout_.tx));
    }
    return {};
  }

  base::Status indexes() {
    if (layout_.adopted) {
      const auto unique =
          ask("select exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid "
              "and a.attnum = i.indkey[0] where i.indrelid = to_regclass($1) and i.indisvalid and i.indisunique "
              "and i.indnkeyatts = 1 and i.indpred is null and a.attname = $2 and a.attnotnull)",
              {table_, layout_.seq});
      if (!unique) return std::unexpected(unique.error());
      if (!unique->flag(0, 0)) {
        return refuse(
            fmt::format("the column {0} of {1} may be NULL or is not unique, so that rows could be missed or taken for "
                        "one another: make it NOT NULL with a unique index, or name another in outbox.columns.order",
                        layout_.seq, name_));
      }
    }
    return layout_.marks_rows() ? index_on_pending() : index_on_tx();
  }

  base::Status index_on_pending() {
    if (layout_.status.empty()) return {};
    const auto indexed =
        ask("select exists (select from pg_index i where i.indrelid = to_regclass($1) and i.indisvalid and "
            "((pg_get_indexdef(i.indexrelid, 1, true) = $2 and position($3 in pg_get_expr(i.indpred, i.indrelid)) > 0) "
            "or (pg_get_indexdef(i.indexrelid, 1, true) = $3 and pg_get_indexdef(i.indexrelid, 2, true) = $2)))",
            {table_, plain(layout_.seq), plain(layout_.status)});
    if (!indexed) return std::unexpected(indexed.error());
    if (indexed->flag(0, 0)) return {};
    std::string pending = layout_.pending_sql();
    pending.erase(0, 2);  // the alias
    return refuse(
        fmt::format("{} has no index that leads to its pending rows, without which every look reads the whole table: "
                    "create index concurrently on {} ({}) where {}",
                    name_, table_, identifier(layout_.seq), pending));
  }

  base::Status index_on_tx() {
    const auto indexed =
        ask("select exists (select from pg_index i where i.indrelid = to_regclass($1) and i.indisvalid "
            "and pg_get_indexdef(i.indexrelid, 1, true) = $2 and pg_get_indexdef(i.indexrelid, 2, true) = $3)",
            {table_, plain(layout_.tx), plain(layout_.seq)});
    if (!indexed) return std::unexpected(indexed.error());
    if (!indexed->flag(0, 0)) {
      return refuse(fmt::format("{} has no index on ({}, {}), without which every look reads the whole table: {}",
                                name_, layout_.tx, layout_.seq,
                                layout_.adopted ? fmt::format("create index concurrently on {} ({}, {})", table_,
                                                              identifier(layout_.tx), identifier(layout_.seq))
                                                : "run `spillway init`"));
    }
    return {};
  }

  // As the catalogue prints a column's name.
  static std::string plain(const std::string& name) {
    const bool simple = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    return simple ? name : identifier(name);
  }

  base::Status rights() {
    const auto answer =
        ask("select has_schema_privilege('spillway', 'usage'), has_table_privilege(to_regclass($1), 'select'), "
            "has_table_privilege(to_regclass($1), 'delete'), "
            "array_to_string(array(select n from unnest(array['progress', 'lease', 'settled']) n "
            "where not (has_table_privilege('spillway.' || n, 'select') and has_table_privilege('spillway.' || n, "
            "'insert') "
            "and has_table_privilege('spillway.' || n, 'update'))), ', ')",
            {table_});
    if (!answer) return std::unexpected(answer.error());
    if (!answer->flag(0, 1)) return refuse(fmt::format("this user may not read {}: grant select on it", name_));
    if (!answer->text(0, 3).empty()) {
      return refuse(
          fmt::format("this user lacks rights on spillway.{}: grant select, insert and update, or use the role "
                      "spillway_relay that `spillway init --roles` makes",
                      answer->text(0, 3)));
    }
    if (layout_.marks_rows()) return right_to_mark(answer->flag(0, 2));
    if (!answer->flag(0, 2)) {
      warnings_.push_back(fmt::format("this user may not delete from {}: published rows are not cleaned up", name_));
    }
    return {};
  }

  base::Status right_to_mark(bool may_delete) {
    if (layout_.status.empty()) {
      if (may_delete) return {};
      return refuse(
          fmt::format("this user may not delete from {}, and published rows are told by their absence: grant "
                      "delete on it, or name a column in outbox.columns.status",
                      name_));
    }
    const auto answer =
        ask("select has_column_privilege(to_regclass($1), $2::text, 'update')", {table_, layout_.status});
    if (!answer) return std::unexpected(answer.error());
    if (answer->flag(0, 0)) return {};
    return refuse(fmt::format("this user may not update {}.{}, which tells published rows: grant update ({}) on it",
                              name_, layout_.status, layout_.status));
  }

  base::Status sequence() {
    const auto answer =
        ask("select s.seqcache, s.seqrelid::regclass from pg_sequence s "
            "where s.seqrelid = pg_get_serial_sequence($1, $2)::regclass",
            {table_, layout_.seq});
    if (!answer) return std::unexpected(answer.error());
    if (answer->rows() > 0 && answer->number(0, 0) > 1 && layout_.marks_rows()) {
      warnings_.push_back(
          fmt::format("the sequence of {}.{} has CACHE {}: events of one key may be published against "
                      "their order; alter sequence {} cache 1",
                      name_, layout_.seq, answer->number(0, 0), answer->text(0, 1)));
      return {};
    }
    if (answer->rows() > 0 && answer->number(0, 0) > 1) {
      return refuse(
          fmt::format("the sequence of {}.{} has CACHE {}, so that events of one key can get numbers against "
                      "their order: alter sequence {} cache 1",
                      name_, layout_.seq, answer->number(0, 0), answer->text(0, 1)));
    }
    return {};
  }

  base::Status cluster() {
    if (layout_.marks_rows()) return {};  // nothing that is saved has a transaction id in it
    const auto answer =
        ask(fmt::format("select exists (select from spillway.schema_version where system_identifier <> here.id), "
                        "exists (select from spillway.progress where outbox = $1 and system_identifier <> here.id), "
                        "exists (select from {} where {} >= pg_snapshot_xmax(pg_current_snapshot())) "
                        "from (select system_identifier as id from pg_control_system()) here",
                        table_, identifier(layout_.tx)),
            {outbox_});
    if (!answer) return std::unexpected(answer.error());
    if (answer->flag(0, 0) || answer->flag(0, 1) || answer->flag(0, 2)) {
      return refuse(
          fmt::format("{} came from another database cluster (a restored dump, or pg_upgrade), and its "
                      "transaction ids mean nothing here: stop the writers and run "
                      "`spillway init --repair-restored`",
                      name_));
    }
    return {};
  }

  base::Status owner() {
    const auto answer =
        ask("select outbox from spillway.progress where table_name = $1 and outbox <> $2 union "
            "select outbox from spillway.lease where table_name = $1 and outbox <> $2",
            {name_, outbox_});
    if (!answer) return std::unexpected(answer.error());
    if (answer->rows() > 0) {
      return refuse(
          fmt::format("{0} is already relayed under the name {1}: set outbox.name to {1}, or, when that one is "
                      "no longer used, delete its rows from spillway.progress and spillway.lease",
                      name_, answer->text(0, 0)));
    }
    return {};
  }

  Connection& connection_;
  const std::string& outbox_;
  const TableLayout& layout_;
  std::string table_;
  std::string name_;
  std::vector<std::string> warnings_;
};

}  // namespace

base::Result<std::vector<std::string>> inspect_outbox(Connection& connection, const std::string& outbox,
                                                      const TableLayout& layout) {
  return Inspection(connection, outbox, layout).run();
}

base::Result<bool> has_key_index(Connection& connection, const TableLayout& layout) {
  const auto answer = connection.ask(
      "select exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] "
      "where i.indrelid = to_regclass($1) and i.indisvalid and i.indpred is null and a.attname = $2 "
      "and a.atttypid in ('text'::regtype, 'varchar'::regtype))",
      std::array<Value, 2>{layout.qualified(), layout.aggregate_id});
  if (!answer) return std::unexpected(answer.error());
  return answer->flag(0, 0);
}

}  // namespace spillway::postgres
