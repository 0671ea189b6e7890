// The real daemon as users start it, for tests: a configuration of its own, a log file, signals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {

struct RelaySettings {
  std::string store;                            // outbox.store
  std::string bootstrap;                        // kafka bootstrap.servers
  std::string more = {};                        // further YAML, whole top-level sections
  std::map<std::string, std::string> env = {};  // wins over the file: SPILLWAY_ROUTE_ON_REJECTED and so on
};

class RelayProcess {
 public:
  // Does not start it.
  explicit RelayProcess(const RelaySettings& settings);

  // `spillway init` with these arguments; throws where it does not exit with 0.
  void init(const std::string& arguments = "") const;
  // Any command with --config; what it printed.
  Finished command(const std::string& arguments) const;

  void start();
  bool running() { return process_ && process_->running(); }
  void kill9() { process_.reset(); }
  void freeze() { process_->freeze(); }
  void thaw() { process_->thaw(); }
  // SIGTERM; how it ended, or nothing after `limit`.
  std::optional<Process::End> stop(std::chrono::milliseconds limit = std::chrono::seconds(10));

  pid_t pid() const { return process_->pid(); }
  std::uint16_t http_port() const { return http_port_; }
  std::string log() const;
  std::filesystem::path config() const { return folder_.path() / "spillway.yaml"; }

 private:
  TempDir folder_{"relay"};
  std::map<std::string, std::string> env_;
  std::uint16_t http_port_;
  std::optional<Process> process_;
};

}  // namespace spillway::testing
