#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/postgres_server.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {

// A PgBouncer in transaction mode in front of a PostgreSQL server: every database is reachable by its own name, every
// user becomes postgres. The server may
// stop and start meanwhile.
class PgBouncer {
 public:
  // `settings` are further lines of the section [pgbouncer]. Throws std::runtime_error when it does not start.
  explicit PgBouncer(const PostgresServer& server, std::vector<std::pair<std::string, std::string>> settings = {});

  std::uint16_t port() const { return port_; }
  std::string uri(const std::string& database = "postgres") const;
  std::filesystem::path log_file() const { return folder_.path() / "log"; }

 private:
  TempDir folder_;
  std::uint16_t port_;
  std::optional<Process> process_;
};

}  // namespace spillway::testing
