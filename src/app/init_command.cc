#include "app/init_command.h"

#include <fmt/format.h>

#include <ostream>

#include "sqlite/schema.h"

namespace spillway::app {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kMisconfigured = 2;

int failed(const base::Error& error, std::ostream& err) {
  err << error.message << '\n';
  return error.error_class == base::ErrorClass::kMisconfigured ? kMisconfigured : kFailed;
}

int init_sqlite(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err) {
  if (options.notify || options.roles || options.partitioned || options.repair_restored) {
    err << "--notify, --roles, --partitioned and --repair-restored are for PostgreSQL; outbox.store is SQLite\n";
    return kMisconfigured;
  }
  if (options.print) {
    out << sqlite::init_sql();
    return kDone;
  }
  const std::string path(config.outbox.sqlite_path());
  const auto installed = sqlite::install(path);
  if (!installed) return failed(installed.error(), err);
  switch (*installed) {
    case sqlite::Installed::kCreated: out << "created the outbox in " << path << '\n'; break;
    case sqlite::Installed::kUpgraded: out << "upgraded the outbox in " << path << '\n'; break;
    case sqlite::Installed::kUnchanged: out << "nothing to do: the outbox in " << path << " is up to date\n"; break;
  }
  return kDone;
}

}  // namespace

int run_init(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err) {
  return init_sqlite(options, config, out, err);
}

}  // namespace spillway::app
