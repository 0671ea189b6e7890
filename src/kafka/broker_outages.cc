#include "kafka/broker_outages.h"

#include <utility>

namespace spillway::kafka {
namespace {

constexpr int kWarning = 4;  // as syslog
constexpr int kInfo = 6;

struct Failure {
  std::string_view broker;
  std::string_view reason;
};

// The node's id, or "bootstrap", changes when librdkafka learns whom it talks to.
std::string_view without_id(std::string_view name) { return name.substr(0, name.rfind('/')); }

// "[thrd:NAME]: NAME: reason", the first part only where the user left log.thread.name alone.
std::optional<Failure> parse(std::string_view text) {
  constexpr std::string_view kThread = "[thrd:";
  constexpr std::string_view kThreadEnd = "]: ";
  if (text.starts_with(kThread)) {
    const std::size_t end = text.find(kThreadEnd);
    if (end == text.npos) return std::nullopt;
    text.remove_prefix(end + kThreadEnd.size());
  }
  const std::size_t colon = text.find(": ");
  if (colon == text.npos || colon == 0) return std::nullopt;
  return Failure{without_id(text.substr(0, colon)), text.substr(colon + 2)};
}

bool refused(std::string_view reason) {
  return reason.find("authentication error") != reason.npos || reason.find("handshake failed") != reason.npos;
}

}  // namespace

BrokerLine broker_line(int level, std::string_view facility, std::string_view text) {
  if (level > kInfo || facility != "FAIL" || !parse(text)) return BrokerLine::kNone;
  return level <= kWarning ? BrokerLine::kFailure : BrokerLine::kClosed;
}

std::optional<BrokerChange> BrokerOutages::failed(std::string_view text) {
  const std::optional<Failure> failure = parse(text);
  if (!failure) return std::nullopt;
  const BrokerState now = refused(failure->reason) ? BrokerState::kRefuses : BrokerState::kAway;
  const auto known = away_.find(failure->broker);
  if (known != away_.end() && (known->second == now || now == BrokerState::kAway)) return std::nullopt;
  away_.insert_or_assign(std::string(failure->broker), now);
  return BrokerChange{std::string(failure->broker), now, std::string(failure->reason)};
}

std::vector<BrokerChange> BrokerOutages::up(const std::vector<std::string>& names) {
  std::vector<BrokerChange> back;
  for (const std::string& name : names) {
    const auto known = away_.find(without_id(name));
    if (known == away_.end()) continue;
    back.push_back({known->first, BrokerState::kUp, {}});
    away_.erase(known);
  }
  return back;
}

}  // namespace spillway::kafka
