#include "sqlite/audit.h"

namespace spillway::sqlite {

void record_audit(Connection& connection, const AuditEntry& entry) {
  auto insert = connection.use("INSERT INTO spillway_audit (who, what, before, after, reason) VALUES (?, ?, ?, ?, ?)");
  insert.bind(entry.who).bind(entry.what).bind(entry.before).bind(entry.after).bind(entry.reason).run();
}

std::string controls_json(Connection& connection) {
  auto row = connection.use(
      "SELECT json_object('paused', (SELECT json_group_array(lane) FROM spillway_control WHERE paused),"
      " 'limit', (SELECT json_object('max_total', max_total, 'reason', reason, 'who', who, 'since', since,"
      " 'until', until) FROM spillway_override))");
  row.step();
  return std::string(row.text(0));
}

}  // namespace spillway::sqlite
