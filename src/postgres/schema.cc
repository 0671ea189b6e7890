#include "postgres/schema.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "postgres/days.h"
#include "postgres/days_sql.h"
#include "postgres/schema_sql.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;
using Marks = std::vector<std::pair<std::string_view, std::string>>;

constexpr std::array<const char*, 4> kPayloadNames{"text", "bytea", "json", "jsonb"};

std::string filled(std::string_view text, const Marks& marks) {
  std::string out(text);
  for (const auto& [mark, value] : marks) {
    for (std::size_t at = 0; (at = out.find(mark, at)) != std::string::npos; at += value.size()) {
      out.replace(at, mark.size(), value);
    }
  }
  return out;
}

const char* from_text(Payload payload) {
  switch (payload) {
    case Payload::kText: return "$4";
    case Payload::kBytea: return "convert_to($4, 'UTF8')";
    case Payload::kJson: return "$4::json";
    case Payload::kJsonb: return "$4::jsonb";
  }
  return "$4";
}

std::string from_bytea(Payload payload) {
  if (payload == Payload::kBytea) {
    return R"(declare event uuid := gen_random_uuid();
begin
  insert into @table@ (id, aggregatetype, aggregateid, type, payload, headers)
  values (event, $1, $2, $3, $4, $5);
  return event;
end)";
  }
  return fmt::format(R"(begin
  raise exception 'spillway.emit got bytes, and the payload column of this outbox is {}'
    using hint = 'A table made by "spillway init --payload bytea" takes bytes; here pass text or JSON.',
          errcode = 'datatype_mismatch';
end)",
                     to_string(payload));
}

Marks marks_for(const InitOptions& options, Payload payload) {
  const TableLayout& layout = options.layout;
  const auto beside = [&](const char* suffix) {
    return identifier(layout.schema) + "." + identifier(layout.table + suffix);
  };
  return {{"@from_text@", from_text(payload)},
          {"@from_bytea@", from_bytea(payload)},
          {"@sequence_text@", literal(beside("_seq"))},
          {"@sequence@", beside("_seq")},
          {"@grant_sequence@",
           options.partitioned ? "grant usage on sequence " + beside("_seq") + " to spillway_writer;" : ""},
          {"@index_tx@", identifier(layout.table + "_tx_seq")},
          {"@index_key@", identifier(layout.table + "_key_seq")},
          {"@index_seq@", identifier(layout.table + "_by_seq")},
          {"@default_partition@", beside("_default")},
          {"@default_text@", literal(beside("_default"))},
          {"@add_day@", beside("_add_day")},
          {"@drop_day@", beside("_drop_day")},
          {"@schema_text@", literal(layout.schema)},
          {"@name_text@", literal(layout.table)},
          {"@qualified_text@", literal(layout.qualified())},
          {"@default_id@", identifier(layout.table + "_default_id")},
          {"@table@", layout.qualified()},
          {"@table_text@", literal(layout.name())},
          {"@removal@", layout.adopted ? "update, delete" : "delete"},
          {"@schema@", identifier(layout.schema)},
          {"@payload@", to_string(payload)},
          {"@version@", std::to_string(kSchemaVersion)},
          {"@channel@", kArrivalChannel}};
}

std::string statements(const InitOptions& options, Payload payload) {
  std::string sql = "create schema if not exists spillway;\n";
  if (!options.layout.adopted) sql += "create schema if not exists @schema@;\n";
  if (!options.layout.adopted) sql += options.partitioned ? kPartitionedTableSql : kOutboxTableSql;
  sql += kSideTablesSql;
  if (!options.layout.adopted) sql += kEmitSql;
  sql += kInboxSql;
  if (options.notify) sql += kNotifySql;
  if (options.roles) sql += kRolesSql;
  if (options.partitioned && !options.layout.adopted) sql += kDaysSql;
  return filled(sql, marks_for(options, payload));
}

struct Present {
  std::optional<std::int64_t> version;
  bool table = false;
  std::string payload_type;
  bool partitioned = false;
  bool days = false;  // the functions that add and drop them
  bool notify = false;
  bool roles = false;
};

base::Result<Present> look(Connection& connection, const TableLayout& layout) {
  const auto tables = connection.ask(
      "select to_regclass('spillway.schema_version') is not null, to_regclass($1) is not null, "
      "(select format_type(atttypid, null) from pg_attribute where attrelid = to_regclass($1) and attname = $2), "
      "(select relkind = 'p' from pg_class where oid = to_regclass($1)), "
      "exists (select from pg_trigger where tgrelid = to_regclass($1) and tgname = 'spillway_announce'), "
      "(select count(*) = 3 from pg_roles where rolname in ('spillway_writer', 'spillway_relay', 'spillway_console'))",
      std::array<Value, 2>{layout.qualified(), layout.payload});
  if (!tables) return std::unexpected(tables.error());
  Present present;
  present.table = tables->flag(0, 1);
  present.payload_type = tables->text(0, 2);
  present.partitioned = tables->flag(0, 3);
  present.notify = tables->flag(0, 4);
  present.roles = tables->flag(0, 5);
  const auto days = look_at_days(connection, layout);
  if (!days) return std::unexpected(days.error());
  present.days = days->installed;
  if (tables->flag(0, 0)) {
    const auto version = connection.ask("select max(version) from spillway.schema_version where table_name = $1",
                                        std::array<Value, 1>{layout.name()});
    if (!version) return std::unexpected(version.error());
    present.version = version->maybe_number(0, 0);
  }
  return present;
}

base::Status check_adopted(const Present& present, const InitOptions& options) {
  const std::string name = options.layout.name();
  if (options.payload || options.notify || options.partitioned) {
    return base::fail(ErrorClass::kMisconfigured,
                      fmt::format("{} is adopted by outbox.preset or outbox.columns and left as it is: run `spillway "
                                  "init` without --payload, --notify and --partitioned",
                                  name));
  }
  if (!present.table) {
    return base::fail(
        ErrorClass::kMisconfigured,
        fmt::format("the table {} does not exist, and `spillway init` does not make one for outbox.preset "
                    "or outbox.columns: correct outbox.table, or leave both out",
                    name));
  }
  return {};
}

base::Result<Payload> payload_for(const Present& present, const InitOptions& options) {
  if (options.layout.adopted) return Payload::kText;
  if (!present.table) return options.payload.value_or(Payload::kText);
  const auto is = payload_of(present.payload_type);
  if (!is) {
    return base::fail(
        ErrorClass::kMisconfigured,
        fmt::format("{} exists and is not Spillway's own: its payload column is {}; name another table, "
                    "or map this one with outbox.preset and outbox.columns",
                    options.layout.name(), present.payload_type.empty() ? "missing" : present.payload_type));
  }
  if (options.partitioned && !present.partitioned) {
    return base::fail(ErrorClass::kMisconfigured,
                      fmt::format("{} is not partitioned and stays so: run `spillway init` without --partitioned, or "
                                  "name another table",
                                  options.layout.name()));
  }
  if (options.payload && *options.payload != *is) {
    return base::fail(ErrorClass::kMisconfigured,
                      fmt::format("the payload column of {} is {} and stays so: run `spillway init` without --payload, "
                                  "or name another table",
                                  options.layout.name(), to_string(*is)));
  }
  return *is;
}

Installed with_days(Connection& connection, const TableLayout& layout, Installed installed) {
  if (const auto added = add_days(connection, layout); !added) installed.days_missing = added.error().message;
  return installed;
}

}  // namespace

const char* to_string(Payload payload) { return kPayloadNames[static_cast<std::size_t>(payload)]; }

std::optional<Payload> payload_of(std::string_view name) {
  for (std::size_t i = 0; i < kPayloadNames.size(); ++i) {
    if (name == kPayloadNames[i]) return static_cast<Payload>(i);
  }
  return std::nullopt;
}

std::string init_sql(const InitOptions& options) {
  const Payload payload = options.payload.value_or(Payload::kText);
  return "begin;\nset local client_min_messages = warning;\n" + statements(options, payload) + "commit;\n" +
         (options.partitioned ? filled(kFirstDaysSql, marks_for(options, payload)) : "");
}

base::Result<Installed> install(Connection& connection, const InitOptions& options) {
  const auto present = look(connection, options.layout);
  if (!present) return std::unexpected(present.error());
  if (present->version.value_or(0) > kSchemaVersion) {
    return base::fail(ErrorClass::kMisconfigured,
                      fmt::format("the schema is of version {} and this Spillway knows {}: use the newer program",
                                  *present->version, kSchemaVersion));
  }
  if (options.layout.adopted) {
    if (auto status = check_adopted(*present, options); !status) return std::unexpected(status.error());
  }
  const auto payload = payload_for(*present, options);
  if (!payload) return std::unexpected(payload.error());
  InitOptions as_is = options;
  if (present->table) as_is.partitioned = present->partitioned;
  Installed installed{Installed::Change::kUnchanged, *payload, as_is.partitioned, {}};
  const bool complete = present->version == kSchemaVersion && present->table && (!options.notify || present->notify) &&
                        (!options.roles || present->roles) && (!as_is.partitioned || present->days);
  if (complete) return with_days(connection, options.layout, std::move(installed));
  // One at a time: CREATE … IF NOT EXISTS fails when two race.
  const auto done = connection.script(
      "begin; set local client_min_messages = warning; set local lock_timeout = '10s'; "
      "select pg_advisory_xact_lock(7310579468239216741);\n" +
      statements(as_is, *payload) + "commit;\n");
  if (!done) return std::unexpected(done.error());
  installed.change = present->version ? Installed::Change::kUpgraded : Installed::Change::kCreated;
  return with_days(connection, options.layout, std::move(installed));
}

}  // namespace spillway::postgres
