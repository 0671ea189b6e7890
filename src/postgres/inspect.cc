#include "postgres/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

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
                            &Inspection::rights, &Inspection::sequence, &Inspection::cluster, &Inspection::owner}) {
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
      return refuse(fmt::format("the table {} does not exist: run `spillway init`, or correct outbox.table", name_));
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
          &layout_.headers, &layout_.created_at, &layout_.tx}) {
      if (name->empty()) continue;
      const auto answer =
          ask("select format_type(atttypid, null) from pg_attribute where attrelid = to_regclass($1) "
              "and attname = $2 and not attisdropped and attnum > 0",
              {table_, *name});
      if (!answer) return std::unexpected(answer.error());
      if (answer->rows() == 0) {
        return refuse(fmt::format("{} has no column {}: run `spillway init`, or name the column in outbox.columns",
                                  name_, *name));
      }
      const std::string type(answer->text(0, 0));
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
    const auto indexed =
        ask("select exists (select from pg_index i where i.indrelid = to_regclass($1) and i.indisvalid "
            "and pg_get_indexdef(i.indexrelid, 1, true) = $2 and pg_get_indexdef(i.indexrelid, 2, true) = $3)",
            {table_, plain(layout_.tx), plain(layout_.seq)});
    if (!indexed) return std::unexpected(indexed.error());
    if (!indexed->flag(0, 0)) {
      return refuse(
          fmt::format("{} has no index on ({}, {}), without which every look reads the whole table: run "
                      "`spillway init`",
                      name_, layout_.tx, layout_.seq));
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
    if (!answer->flag(0, 2)) {
      warnings_.push_back(fmt::format("this user may not delete from {}: published rows are not cleaned up", name_));
    }
    return {};
  }

  base::Status sequence() {
    const auto answer =
        ask("select s.seqcache, s.seqrelid::regclass from pg_sequence s "
            "where s.seqrelid = pg_get_serial_sequence($1, $2)::regclass",
            {table_, layout_.seq});
    if (!answer) return std::unexpected(answer.error());
    if (answer->rows() > 0 && answer->number(0, 0) > 1) {
      return refuse(
          fmt::format("the sequence of {}.{} has CACHE {}, so that events of one key can get numbers against "
                      "their order: alter sequence {} cache 1",
                      name_, layout_.seq, answer->number(0, 0), answer->text(0, 1)));
    }
    return {};
  }

  base::Status cluster() {
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

}  // namespace spillway::postgres
