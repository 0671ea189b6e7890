#include "app/status_command.h"

#include <ostream>
#include <thread>

#include "app/exit_status.h"
#include "status/json.h"
#include "status/text.h"

namespace spillway::app {
namespace {

void show(const StatusOptions& options, const status::Status& status, std::ostream& out) {
  if (options.json) {
    out << status::to_json(status) << '\n';
  } else {
    if (options.watch && options.colour) out << "\033[H\033[2J";
    out << status::to_text(status, options.colour ? status::Colour::kTerminal : status::Colour::kNone);
    if (options.watch && !options.colour) out << '\n';
  }
  out.flush();
}

}  // namespace

int run_status(const StatusOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  const auto session = store.open_operator();
  for (int round = 1;; ++round) {
    const auto [status, store_exit_status] = inquire(options.inquiry, store, *session);
    const bool nobody = !status.store.figures && !status.relay;
    if (nobody) {
      err << status.cause << '\n';
      if (options.json) show(options, status, out);
    } else {
      show(options, status, out);
    }
    if (!options.watch || round == options.rounds) {
      if (nobody) return store_exit_status;
      return options.check && !status.alerts.empty() ? kExitBadAnswer : kExitDone;
    }
    std::this_thread::sleep_for(options.every);
  }
}

}  // namespace spillway::app
