#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {

struct PostgresOptions {
  bool durable =
      false;  // fsync and full_page_writes; off is quicker and loses nothing while the machine itself stays up
  int max_prepared_transactions = 0;
  std::string wal_level = "replica";
  std::vector<std::pair<std::string, std::string>> settings{};  // further lines of postgresql.conf
};

// A PostgreSQL server of its own: data under services_root(), a free port on 127.0.0.1, superuser postgres without a
// password. The port stays the same over restarts. Runs as user postgres where we are root, as ourselves otherwise.
// Everything throws std::runtime_error, with the end of the server's log, when the server does not do as told.
class PostgresServer {
 public:
  // Returns with the server answering.
  explicit PostgresServer(PostgresOptions options = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string uri(const std::string& database = "postgres", const std::string& user = "postgres") const;
  std::filesystem::path log_file() const { return folder_.path() / "log"; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }

  using Row = std::vector<std::optional<std::string>>;
  // One or more statements on a fresh connection; the rows of the last one.
  std::vector<Row> execute(const std::string& sql, const std::string& database = "postgres") const;
  // The only field of the only row.
  std::string value(const std::string& sql, const std::string& database = "postgres") const;

  void start();                   // after one of the four below
  void stop_fast();               // SIGINT: connections are dropped, everything is flushed
  void stop_immediate();          // SIGQUIT: as after a crash
  void kill9();                   // SIGKILL to the postmaster and every process of the server
  void kill9_backend(pid_t pid);  // the server then restarts all its backends; returns once it answers again

  void freeze();  // SIGSTOP to every process of the server: connections stay open and silent
  void thaw();

  // A setting for the next start(), or for reload() where PostgreSQL allows that.
  void set(const std::string& name, const std::string& value);
  void reload();

  // A second server that follows this one by streaming.
  std::unique_ptr<PostgresServer> make_standby() const;
  void promote();  // returns once the server takes writes

 private:
  struct Empty {};
  explicit PostgresServer(Empty);

  void stop(int signal);
  void wait_until_ready();
  void append_settings(const std::vector<std::pair<std::string, std::string>>& settings);
  [[noreturn]] void fail(const std::string& what) const;
  std::filesystem::path data() const { return folder_.path() / "data"; }

  PostgresOptions options_;
  TempDir folder_;
  std::uint16_t port_;
  std::optional<Process> process_;
};

}  // namespace spillway::testing
