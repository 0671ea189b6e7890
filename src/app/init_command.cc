#include "app/init_command.h"

#include <fmt/format.h>

#include <ostream>

#include "app/exit_status.h"
#include "app/open_store.h"
#include "postgres/repair.h"
#include "postgres/schema.h"
#include "sqlite/schema.h"

namespace spillway::app {
namespace {

int not_done(const base::Error& error, std::ostream& err) {
  err << error.message << '\n';
  return error.error_class == base::ErrorClass::kMisconfigured ? kExitWrongUsage : kExitFailed;
}

int init_sqlite(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err) {
  if (options.payload || options.notify || options.roles || options.partitioned || options.repair_restored) {
    err << "--payload, --notify, --roles, --partitioned and --repair-restored are for PostgreSQL; outbox.store is "
           "SQLite\n";
    return kExitWrongUsage;
  }
  if (options.print) {
    out << sqlite::init_sql();
    return kExitDone;
  }
  const std::string path(config.outbox.sqlite_path());
  const auto installed = sqlite::install(path);
  if (!installed) return not_done(installed.error(), err);
  switch (*installed) {
    case sqlite::Installed::kCreated: out << "created the outbox in " << path << '\n'; break;
    case sqlite::Installed::kUpgraded: out << "upgraded the outbox in " << path << '\n'; break;
    case sqlite::Installed::kUnchanged: out << "nothing to do: the outbox in " << path << " is up to date\n"; break;
  }
  return kExitDone;
}

int repair(const postgres::StoreOptions& store, std::ostream& out, std::ostream& err) {
  const auto repaired = postgres::repair_restored(store.connect, store.outbox, store.layout);
  if (!repaired) return not_done(repaired.error(), err);
  out << fmt::format("repaired {}: {} rows count as published, {} will be published\n", store.layout.name(),
                     repaired->finished, repaired->unfinished);
  return kExitDone;
}

int init_postgres(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err) {
  auto store = postgres_options(config);
  if (!store) return not_done(store.error(), err);
  if (options.repair_restored) return repair(*store, out, err);
  postgres::InitOptions init{.payload = options.payload ? postgres::payload_of(*options.payload) : std::nullopt,
                             .notify = options.notify,
                             .roles = options.roles,
                             .partitioned = options.partitioned,
                             .layout = store->layout};
  if (options.print) {
    out << postgres::init_sql(init);
    return kExitDone;
  }
  postgres::Connection connection(store->connect);
  const auto installed = postgres::install(connection, init);
  if (!installed) return not_done(installed.error(), err);
  const std::string what =
      store->layout.adopted ? fmt::format("the side tables of {}, which itself is left as it is,", store->layout.name())
                            : store->layout.name();
  const std::string where = fmt::format("{} in {}", what, postgres::describe(store->connect.uri));
  using Change = postgres::Installed::Change;
  switch (installed->change) {
    case Change::kCreated: out << "created " << where; break;
    case Change::kUpgraded: out << "upgraded " << where; break;
    case Change::kUnchanged: out << "nothing to do: up to date: " << where; break;
  }
  if (!store->layout.adopted) out << " (payload " << to_string(installed->payload) << ")";
  out << '\n';
  if (installed->partitioned) {
    out << "partitioned by day (UTC), today and the seven days after it; the relay adds and drops days. `id` is unique "
           "within a day only\n";
  }
  if (!installed->days_missing.empty()) err << installed->days_missing << '\n';
  return kExitDone;
}

}  // namespace

int run_init(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err) {
  if (config.outbox.store_kind() == config::StoreKind::kPostgres) return init_postgres(options, config, out, err);
  return init_sqlite(options, config, out, err);
}

}  // namespace spillway::app
