#include "app/open_store.h"

#include "sqlite/store.h"

namespace spillway::app {

base::Result<std::unique_ptr<ports::OutboxStore>> open_store(const config::Config& config) {
  if (config.outbox.store_kind() == config::StoreKind::kSqlite) {
    return std::make_unique<sqlite::OutboxStore>(
        sqlite::StoreOptions{.path = std::string(config.outbox.sqlite_path()), .name = config.outbox.name});
  }
  return base::fail(base::ErrorClass::kMisconfigured, "PostgreSQL is not here yet");
}

std::unique_ptr<ports::ArrivalHint> open_hint(const config::Config&) { return nullptr; }

}  // namespace spillway::app
