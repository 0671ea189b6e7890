// What people changed, kept in spillway_audit: who, what, from what to what, and why.
#pragma once

#include <optional>
#include <string>

#include "sqlite/connection.h"

namespace spillway::sqlite {

struct AuditEntry {
  std::string who{};
  std::string what{};                   // "pause backlog", "set override", "resolve"
  std::optional<std::string> before{};  // JSON
  std::optional<std::string> after{};   // JSON
  std::string reason{};
};

// Inside the transaction that makes the change.
void record_audit(Connection& connection, const AuditEntry& entry);

// Pauses and override as they stand, as JSON.
std::string controls_json(Connection& connection);

}  // namespace spillway::sqlite
