#include "support/pgbouncer.h"

#include <libpq-fe.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.h"
#include "support/free_port.h"

namespace spillway::testing {

PgBouncer::PgBouncer(const PostgresServer& server, std::vector<std::pair<std::string, std::string>> settings)
    : folder_("pgbouncer", "postgres"), port_(free_port()) {
  const auto file = folder_.path() / "pgbouncer.ini";
  {
    std::ofstream ini(file);
    ini << "[databases]\n* = host=127.0.0.1 port=" << server.port() << " user=postgres\n"
        << "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir =\n"
        << "auth_type = any\npool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 20\n";
    for (const auto& [name, value] : settings) ini << name << " = " << value << '\n';
  }
  process_.emplace(ProcessOptions{.args = {"/usr/sbin/pgbouncer", file}, .out = log_file(), .user = "postgres"});
  const std::string patient = uri() + "?connect_timeout=5";
  eventually([&] { return PQping(patient.c_str()) == PQPING_OK || !process_->running(); });
  if (process_->running() && PQping(patient.c_str()) == PQPING_OK) return;
  std::ostringstream log;
  log << std::ifstream(log_file()).rdbuf();
  throw std::runtime_error("PgBouncer on port " + std::to_string(port_) + " did not start; its log:\n" + log.str());
}

std::string PgBouncer::uri(const std::string& database) const {
  return "postgresql://postgres@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

}  // namespace spillway::testing
