#include "app/pause_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/exit_status.h"

namespace spillway::app {
namespace {

std::optional<ports::Lane> lane_named(const std::string& name, std::ostream& err) {
  if (name == "all") return ports::Lane::kAll;
  if (name == "backlog") return ports::Lane::kBacklog;
  err << fmt::format("--lane \"{}\": expected all or backlog\n", name);
  return std::nullopt;
}

std::string state_words(const ports::Pause& pause) {
  if (!pause.all && !pause.backlog) return "running";
  return fmt::format("{} paused{}{}", pause.all ? "everything" : "the backlog",
                     pause.who.empty() ? "" : " by " + pause.who, pause.reason.empty() ? "" : ": " + pause.reason);
}

void say(const PauseOptions& options, bool paused, const ports::Pause& before, const ports::Pause& after,
         std::ostream& out) {
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"live", after.all}, {"backlog", after.all || after.backlog}, {"reason", after.reason}, {"who", after.who}};
    out << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  const std::string lane = options.lane == "all" ? "" : " --lane " + options.lane;
  out << fmt::format("was: {}\nnow: {}\nundo: spillway {}{}\n", state_words(before), state_words(after),
                     paused ? "resume" : "pause", lane);
  if (!paused && (after.all || after.backlog)) {
    out << fmt::format("still paused: the other lane; `spillway resume{}` ends that as well\n",
                       after.all ? "" : " --lane backlog");
  }
}

int change(const PauseOptions& options, bool pause, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  const auto lane = lane_named(options.lane, err);
  if (!lane) return kExitWrongUsage;
  const auto session = store.open_operator();
  const auto before = session->controls();
  base::Status done = before ? base::Status{} : std::unexpected(before.error());
  if (done) {
    done = pause ? session->pause(*lane, options.reason, options.who)
                 : session->resume(*lane, options.reason, options.who);
  }
  const auto after = done ? session->controls() : std::unexpected(done.error());
  if (!after) {
    err << fmt::format("{} failed: {}\n", pause ? "pause" : "resume", after.error().message);
    return exit_status_of(after.error());
  }
  say(options, pause, before->pause, after->pause, out);
  return kExitDone;
}

}  // namespace

int run_pause(const PauseOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  return change(options, true, store, out, err);
}

int run_resume(const PauseOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  return change(options, false, store, out, err);
}

}  // namespace spillway::app
