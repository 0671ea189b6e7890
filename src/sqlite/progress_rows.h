// Progress as spillway_progress and spillway_finished hold it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ports/outbox_store.h"
#include "sqlite/connection.h"

namespace spillway::sqlite {

// Both inside a transaction of the caller. The very beginning where nothing was saved.
ports::Progress load_progress(Connection& connection, const std::string& name);
void store_progress(Connection& connection, const std::string& name, const ports::Progress& progress,
                    std::int64_t now_millis);

// Everything up to and including this seq is finished in every lane.
std::int64_t finished_up_to(const ports::Progress& progress);

// When progress was last saved; empty = never.
std::optional<std::int64_t> saved_at_millis(Connection& connection, const std::string& name);

}  // namespace spillway::sqlite
