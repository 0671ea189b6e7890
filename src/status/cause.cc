#include "status/cause.h"

#include <fmt/format.h>

#include "status/governor_view.h"
#include "status/words.h"

namespace spillway::status {
namespace {

std::string waiting_words(const Status& status) {
  if (!status.backlog.events) return "how much waits is unknown";
  if (*status.backlog.events == 0) {
    const std::int64_t behind = status.store.figures ? status.store.figures->behind_their_key : 0;
    return behind == 0 ? "nothing waits" : counted(behind, "event") + " behind an earlier one of the same key";
  }
  std::string text = fmt::format("{}{} wait{}", status.backlog.estimated ? "about " : "",
                                 counted(*status.backlog.events, "event"), *status.backlog.events == 1 ? "s" : "");
  if (status.backlog.oldest_age_s) text += ", the oldest for " + span_words(*status.backlog.oldest_age_s);
  return text;
}

std::string holder(const Status& status) {
  const auto& figures = status.store.figures;
  if (!figures || !figures->lease) return "the relay";
  return fmt::format("relay {}", figures->lease->holder_name);
}

std::string stuck_words(const relay::StuckPartition& stuck) {
  const std::string where =
      stuck.partition < 0 ? "topic " + stuck.topic : fmt::format("partition {} of {}", stuck.partition, stuck.topic);
  return fmt::format("{} takes nothing for {}{}{}", where, span_words(stuck.seconds), stuck.reason.empty() ? "" : ": ",
                     stuck.reason);
}

std::string flow_words(const Status& status) {
  const std::string rate =
      status.rates.published ? rate_words(*status.rates.published) + " published" : "rate not measured yet";
  if (status.eta.kind == Eta::Kind::kNever) return fmt::format("{}; {}", waiting_words(status), status.eta.reason);
  if (status.backlog.events.value_or(0) == 0) return fmt::format("relaying: {}, {}", rate, waiting_words(status));
  if (status.eta.seconds && *status.eta.seconds > 0) {
    return fmt::format("draining: {}; {}, clear in about {}", waiting_words(status), rate,
                       span_words(*status.eta.seconds));
  }
  return fmt::format("relaying: {}, {}", rate, waiting_words(status));
}

std::string running_words(const Status& status) {
  const LiveFigures& relay = *status.relay;
  const GovernorView& governor = status.governor;
  if (!relay.sink_error.empty()) return fmt::format("{}; the broker: {}", waiting_words(status), relay.sink_error);
  if (!relay.store_error.empty()) return fmt::format("{}; the store: {}", waiting_words(status), relay.store_error);
  if (governor.live_cap) return fmt::format("braking: {}; {}", governor.reason, waiting_words(status));
  if (!relay.stuck.empty()) return fmt::format("{}; {}", waiting_words(status), stuck_words(relay.stuck.front()));
  // Where nothing waits, what the backlog may use explains nothing.
  if (!steered(governor) || status.backlog.events.value_or(1) == 0) return flow_words(status);
  return fmt::format("{}; {}", flow_words(status), governor.reason);
}

std::string answering_words(const Status& status) {
  switch (status.relay->state) {
    case relay::RelayState::kStandby:
      return fmt::format("standing by: {} holds the lease; {}", holder(status), waiting_words(status));
    case relay::RelayState::kLoading: return "starting: asking the store where to go on";
    case relay::RelayState::kDraining: return "stopping: waiting for what is in flight";
    case relay::RelayState::kRunning: break;
  }
  return running_words(status);
}

std::string frozen_words(const Status& status) {
  if (loop_frozen(status)) {
    return fmt::format("the relay is frozen: its loop did not turn for {}; {}", span_words(status.relay->turn_age_s),
                       last_progress(status));
  }
  return fmt::format("{} holds the lease and does nothing: {}; {}", holder(status), waiting_words(status),
                     last_progress(status));
}

}  // namespace

std::string last_progress(const Status& status) {
  if (!status.store.figures) return "the last progress is unknown";
  const auto& age = status.store.figures->progress_age_s;
  return age ? "last progress " + span_words(*age) + " ago" : "no progress was ever saved";
}

std::string explain_cause(const Status& status) {
  const auto& figures = status.store.figures;
  if (status.condition == RelayCondition::kFrozen) return frozen_words(status);
  if (!figures) return one_line("the store does not answer: " + status.store.error);
  if (figures->pause.all) {
    const std::string who = figures->pause.who.empty() ? "" : " by " + figures->pause.who;
    const std::string why = figures->pause.reason.empty() ? "" : " (" + figures->pause.reason + ")";
    return one_line(fmt::format("paused{}{}: {}", who, why, waiting_words(status)));
  }
  switch (status.condition) {
    case RelayCondition::kNone:
      return fmt::format("no relay runs: {}; {}", waiting_words(status), last_progress(status));
    case RelayCondition::kSilent:
      return fmt::format("{} holds the lease{}; {}; {}", holder(status),
                         status.subject.relay_no_answer.empty() ? "" : " but does not answer here",
                         waiting_words(status), last_progress(status));
    case RelayCondition::kFrozen:
    case RelayCondition::kAnswering: break;
  }
  return one_line(answering_words(status));
}

}  // namespace spillway::status
