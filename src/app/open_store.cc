#include "app/open_store.h"

#include "app/adopted_table.h"
#include "postgres/arrival_hint.h"
#include "postgres/store.h"
#include "sqlite/store.h"

namespace spillway::app {
namespace {

base::Result<std::unique_ptr<ports::OutboxStore>> open_postgres(const config::Config& config) {
  auto options = postgres_options(config);
  if (!options) return std::unexpected(options.error());
  return std::make_unique<postgres::OutboxStore>(std::move(*options));
}

}  // namespace

base::Result<postgres::StoreOptions> postgres_options(const config::Config& config) {
  if (base::Status understood = postgres::check_uri(config.outbox.store); !understood) {
    return std::unexpected(understood.error());
  }
  auto layout = table_layout(config);
  if (!layout) return std::unexpected(layout.error());
  return postgres::StoreOptions{
      .connect = {.uri = config.outbox.store}, .outbox = config.outbox.name, .layout = std::move(*layout)};
}

base::Result<std::unique_ptr<ports::OutboxStore>> open_store(const config::Config& config) {
  if (config.outbox.store_kind() == config::StoreKind::kPostgres) return open_postgres(config);
  if (config.outbox.preset != config::Preset::kNative || !config.outbox.columns.empty()) {
    return base::fail(
        base::ErrorClass::kMisconfigured,
        "outbox.preset and outbox.columns are for PostgreSQL, and outbox.store is SQLite: leave them out");
  }
  return std::make_unique<sqlite::OutboxStore>(
      sqlite::StoreOptions{.path = std::string(config.outbox.sqlite_path()), .name = config.outbox.name});
}

std::unique_ptr<ports::ArrivalHint> open_hint(const config::Config& config) {
  if (config.outbox.store_kind() != config::StoreKind::kPostgres || config.outbox.listen.empty()) return nullptr;
  return std::make_unique<postgres::ArrivalHint>(postgres::ConnectOptions{.uri = config.outbox.listen});
}

}  // namespace spillway::app
