#include "sqlite/triage_session.h"

#include "sqlite/query.h"

namespace spillway::sqlite {

base::Status TriageSession::check(const ports::Predicate& predicate) {
  return session_.answer([&](Connection& connection) { const Query understood(connection, predicate, time_limit_); });
}

base::Result<ports::Matches> TriageSession::matches(const ports::Predicate& predicate,
                                                    std::span<const ports::AskedRow> rows) {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    Query query(connection, predicate, time_limit_);
    ports::Matches found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto answer = query.ask(rows[i]);
      if (answer.trouble) {
        found.failed.push_back({i, std::move(*answer.trouble)});
      } else if (answer.holds) {
        found.matched.push_back(i);
      }
    }
    return found;
  });
}

base::Result<std::vector<std::size_t>> TriageSession::newer_for_key(std::span<const ports::AskedRow> rows) {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    auto newer = connection.use(
        "SELECT EXISTS (SELECT 1 FROM spillway_outbox AS o WHERE aggregateid = ? AND seq > ? AND type = ?"
        " AND aggregatetype = ? AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq"
        " AND s.verdict <> 'publish'))");
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].aggregate_id) continue;
      newer.reset();
      newer.bind(*rows[i].aggregate_id).bind(rows[i].seq).bind(rows[i].type).bind(rows[i].aggregate_type).step();
      if (newer.integer(0) != 0) found.push_back(i);
    }
    return found;
  });
}

}  // namespace spillway::sqlite
