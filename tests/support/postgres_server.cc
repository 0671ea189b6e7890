#include "support/postgres_server.h"

#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.h"
#include "support/free_port.h"

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kServerStartLimit{60};
constexpr std::size_t kServerLogTail = 4000;
constexpr std::size_t kLongestSocketPath = 100;
const std::string kUser = "postgres";

std::filesystem::path bin_folder() {
  if (const char* given = std::getenv("SPILLWAY_PG_BIN")) return given;
  std::filesystem::path newest;
  int newest_version = 0;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", missing)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version <= newest_version || !std::filesystem::exists(entry.path() / "bin/postgres")) continue;
    newest_version = version;
    newest = entry.path() / "bin";
  }
  if (newest.empty()) {
    throw std::runtime_error(
        "no PostgreSQL server below /usr/lib/postgresql: install postgresql-15 (./dev setup) or set SPILLWAY_PG_BIN");
  }
  return newest;
}

void run_or_throw(const std::vector<std::string>& args) {
  const Finished finished = run({.args = args, .user = kUser}, kServerStartLimit);
  if (finished.exit_status == 0) return;
  throw std::runtime_error(args[0] + " ended with " + std::to_string(finished.exit_status) + ": " + finished.out +
                           finished.err);
}

// An empty cluster, made once and copied for each server: initdb takes seconds, a copy does not. Two processes may make
// it at the same time; the rename lets one of them win.
std::filesystem::path template_cluster() {
  const auto bin = bin_folder();
  const auto path = services_root() / ("postgres-template-" + bin.parent_path().filename().string());
  if (std::filesystem::exists(path / "PG_VERSION")) return path;
  const TempDir folder("initdb", kUser);
  const auto fresh = folder.path() / "data";
  run_or_throw(
      {bin / "initdb", "-D", fresh, "-U", kUser, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"});
  std::error_code lost_the_race;
  std::filesystem::rename(fresh, path, lost_the_race);
  return path;
}

// The processes whose parent is `pid`: the backends and workers of a postmaster, each of which has a session of its
// own.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t candidate = std::atoi(entry.path().filename().c_str());
    if (candidate <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const auto end_of_name = text.rfind(") ");
    if (end_of_name == std::string::npos) continue;
    char state = 0;
    pid_t parent = 0;
    std::istringstream(text.substr(end_of_name + 2)) >> state >> parent;
    if (parent == pid) children.push_back(candidate);
  }
  return children;
}

bool gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const auto end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos || text[end_of_name + 2] == 'Z';
}

class Connection {
 public:
  explicit Connection(const std::string& uri) : connection_(PQconnectdb((uri + "?connect_timeout=10").c_str())) {
    if (PQstatus(connection_) == CONNECTION_OK) return;
    const std::string message = PQerrorMessage(connection_);
    PQfinish(connection_);
    throw std::runtime_error(message);
  }
  ~Connection() { PQfinish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::vector<PostgresServer::Row> execute(const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_, sql.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY) {
      throw std::runtime_error(sql + ": " + PQerrorMessage(connection_));
    }
    std::vector<PostgresServer::Row> rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        const int index = static_cast<int>(row);
        if (PQgetisnull(result.get(), index, column) != 0) {
          rows[row].push_back(std::nullopt);
        } else {
          rows[row].emplace_back(PQgetvalue(result.get(), index, column));
        }
      }
    }
    return rows;
  }

 private:
  PGconn* connection_;
};

}  // namespace

PostgresServer::PostgresServer(Empty) : folder_("postgres", kUser), port_(free_port()) {}

PostgresServer::PostgresServer(PostgresOptions options) : PostgresServer(Empty{}) {
  options_ = std::move(options);
  run_or_throw({"cp", "-a", "--reflink=auto", template_cluster(), data()});
  const std::string durable = options_.durable ? "on" : "off";
  append_settings({{"fsync", durable},
                   {"full_page_writes", durable},
                   {"wal_level", options_.wal_level},
                   {"max_prepared_transactions", std::to_string(options_.max_prepared_transactions)},
                   {"shared_buffers", "64MB"},
                   {"max_connections", "200"}});
  append_settings(options_.settings);
  start();
}

PostgresServer::~PostgresServer() {
  try {
    thaw();
    if (process_) stop(SIGQUIT);
  } catch (const std::exception&) {
    process_.reset();
  }
}

std::string PostgresServer::uri(const std::string& database, const std::string& user) const {
  return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

std::vector<PostgresServer::Row> PostgresServer::execute(const std::string& sql, const std::string& database) const {
  return Connection(uri(database)).execute(sql);
}

std::string PostgresServer::value(const std::string& sql, const std::string& database) const {
  const auto rows = execute(sql, database);
  if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0]) {
    throw std::runtime_error("one row with one value that is not null was expected from: " + sql);
  }
  return *rows[0][0];
}

void PostgresServer::start() {
  const std::string folder = folder_.path();
  const std::string sockets = folder.size() < kLongestSocketPath - 20 ? folder : "";
  process_.emplace(ProcessOptions{.args = {bin_folder() / "postgres", "-D", data(), "-p", std::to_string(port_), "-c",
                                           "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + sockets},
                                  .out = log_file(),
                                  .user = kUser,
                                  .death_signal = SIGQUIT});
  wait_until_ready();
}

void PostgresServer::stop_fast() { stop(SIGINT); }

void PostgresServer::stop_immediate() { stop(SIGQUIT); }

void PostgresServer::stop(int signal) {
  if (!process_) return;
  process_->signal(signal);
  if (!process_->wait(seconds(60))) fail("did not stop within 60 s");
  process_.reset();
}

void PostgresServer::kill9() {
  if (!process_) return;
  process_->freeze();  // no new backend from here on
  auto all = children_of(process_->pid());
  for (const pid_t pid : all) ::kill(pid, SIGKILL);
  process_->kill9();
  process_.reset();
  if (!eventually([&] { return std::ranges::all_of(all, gone); })) fail("still has processes after SIGKILL");
}

void PostgresServer::kill9_backend(pid_t pid) {
  if (!process_) fail("is not running");
  const auto children = children_of(process_->pid());
  if (std::ranges::find(children, pid) == children.end()) fail("has no process " + std::to_string(pid));
  ::kill(pid, SIGKILL);
  // Every other backend ends as well; only then does "answers again" mean the restarted server.
  if (!eventually([&] { return std::ranges::all_of(children, gone); }, kServerStartLimit))
    fail("did not restart its backends");
  wait_until_ready();
}

void PostgresServer::freeze() {
  if (!process_) return;
  process_->freeze();
  for (const pid_t pid : children_of(process_->pid())) ::kill(pid, SIGSTOP);
}

void PostgresServer::thaw() {
  if (!process_) return;
  for (const pid_t pid : children_of(process_->pid())) ::kill(pid, SIGCONT);
  process_->thaw();
}

void PostgresServer::set(const std::string& name, const std::string& value) { append_settings({{name, value}}); }

void PostgresServer::reload() { execute("select pg_reload_conf()"); }

std::unique_ptr<PostgresServer> PostgresServer::make_standby() const {
  std::unique_ptr<PostgresServer> standby(new PostgresServer(Empty{}));
  standby->options_ = options_;
  run_or_throw({bin_folder() / "pg_basebackup", "-d", uri(), "-D", standby->data(), "-R", "-X", "stream", "-c", "fast",
                "--no-sync"});
  standby->start();
  return standby;
}

void PostgresServer::promote() {
  if (value("select pg_promote(true, 60)") != "t") fail("was not promoted within 60 s");
}

void PostgresServer::wait_until_ready() {
  const bool answers =
      eventually([this] { return PQping((uri() + "?connect_timeout=5").c_str()) == PQPING_OK || !process_->running(); },
                 kServerStartLimit);
  if (!answers || !process_->running()) fail("did not start");
}

void PostgresServer::append_settings(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::ofstream file(data() / "postgresql.conf", std::ios::app);
  for (const auto& [name, value] : settings) {
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    file << name << " = '" << quoted << "'\n";
  }
  if (!file.flush()) fail("has no writable postgresql.conf");
}

void PostgresServer::fail(const std::string& what) const {
  std::ostringstream text;
  text << std::ifstream(log_file()).rdbuf();
  const std::string log = text.str();
  throw std::runtime_error("PostgreSQL on port " + std::to_string(port_) + " " + what + "; its log ends with:\n" +
                           log.substr(log.size() > kServerLogTail ? log.size() - kServerLogTail : 0));
}

}  // namespace spillway::testing
