// The store that a configuration names.
#pragma once

#include <memory>

#include "base/result.h"
#include "config/config.h"
#include "ports/outbox_store.h"
#include "postgres/store.h"

namespace spillway::app {

// Connects to nothing yet. kMisconfigured where the configuration cannot describe a store.
base::Result<std::unique_ptr<ports::OutboxStore>> open_store(const config::Config& config);

// The same for PostgreSQL alone, for what only it has.
base::Result<postgres::StoreOptions> postgres_options(const config::Config& config);

// Empty where none is configured.
std::unique_ptr<ports::ArrivalHint> open_hint(const config::Config& config);

}  // namespace spillway::app
