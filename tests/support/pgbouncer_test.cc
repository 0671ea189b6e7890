#include "support/pgbouncer.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <string>

namespace spillway::testing {
namespace {

std::string ask(PGconn* connection, const char* sql) {
  PGresult* result = PQexec(connection, sql);
  std::string answer =
      PQresultStatus(result) == PGRES_TUPLES_OK ? PQgetvalue(result, 0, 0) : PQerrorMessage(connection);
  PQclear(result);
  return answer;
}

TEST(PgBouncer, SharesOneBackendBetweenClientsPerTransaction) {
  PostgresServer server;
  const PgBouncer pooler(server, {{"default_pool_size", "1"}});
  PGconn* first = PQconnectdb(pooler.uri().c_str());
  PGconn* second = PQconnectdb(pooler.uri().c_str());
  const std::string backend = ask(first, "select pg_backend_pid()");
  EXPECT_EQ(ask(second, "select pg_backend_pid()"), backend);
  PQclear(PQprepare(first, "named", "select 1", 0, nullptr));
  PGresult* repeated = PQprepare(second, "named", "select 1", 0, nullptr);
  EXPECT_EQ(PQresultStatus(repeated), PGRES_FATAL_ERROR) << "prepared statements must not be private to a client";
  PQclear(repeated);
  PQfinish(first);
  PQfinish(second);
}

}  // namespace
}  // namespace spillway::testing
