#include "relay/relay_process.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/free_port.h"

namespace spillway::testing {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

RelayProcess::RelayProcess(const RelaySettings& settings) : env_(settings.env), http_port_(free_port()) {
  std::ofstream(config()) << fmt::format(
      "outbox:\n  store: {}\n  cleanup: {{keep: never}}\nkafka:\n  bootstrap.servers: {}\n"
      "route: {{topic: \"{{aggregatetype}}\"}}\nhttp: {{listen: 127.0.0.1:{}}}\n{}",
      settings.store, settings.bootstrap, http_port_, settings.more);
}

Finished RelayProcess::command(const std::string& arguments) const {
  ProcessOptions options{.args = {SPILLWAY_BINARY}, .env = env_};
  for (std::string& word : words(arguments)) options.args.push_back(std::move(word));
  options.args.insert(options.args.end(), {"--config", config().string()});
  return run(std::move(options));
}

void RelayProcess::init(const std::string& arguments) const {
  const Finished finished = command("init " + arguments);
  if (finished.exit_status != 0) throw std::runtime_error("spillway init: " + finished.err + finished.out);
}

void RelayProcess::start() {
  process_.emplace(ProcessOptions{
      .args = {SPILLWAY_BINARY, "run", "--config", config().string()}, .env = env_, .out = folder_.path() / "log"});
}

std::optional<Process::End> RelayProcess::stop(std::chrono::milliseconds limit) {
  process_->signal(SIGTERM);
  return process_->wait(limit);
}

std::string RelayProcess::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_.path() / "log").rdbuf();
  return text.str();
}

}  // namespace spillway::testing
