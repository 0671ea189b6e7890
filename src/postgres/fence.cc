#include "postgres/fence.h"

#include <fmt/format.h>

namespace spillway::postgres {

using base::ErrorClass;

base::Result<Answer> write_fenced(Connection& connection, const std::string& outbox, const ports::Fence& fence,
                                  const FencedWrite& write, std::vector<Value> values) {
  const std::string sql = fmt::format(
      "with lease as materialized ("
      " select exists (select from spillway.lease where outbox = $1::text and epoch = $2::bigint and holder = $3::uuid"
      " for share) as mine),"
      " life as materialized (select {} as now),"
      " fence as materialized (select mine and now = $4::text as holds from lease, life), "
      "{} select {}, mine, now = $4::text from lease, life, fence",
      kIncarnationSql, write.writes, write.answer);
  values.insert(values.begin(),
                {outbox, std::to_string(fence.epoch), base::to_string(fence.holder), fence.incarnation});
  auto answer = connection.ask(sql, values);
  if (!answer) return answer;
  const int columns = answer->columns();
  if (!answer->flag(0, columns - 2)) {
    return base::fail(ErrorClass::kLostLease, fmt::format("the lease on outbox {} is no longer ours", outbox));
  }
  if (!answer->flag(0, columns - 1)) {
    return base::fail(ErrorClass::kLostPlace, "PostgreSQL went through a crash recovery or a promotion");
  }
  return answer;
}

}  // namespace spillway::postgres
