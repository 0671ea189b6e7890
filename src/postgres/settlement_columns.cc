#include "postgres/settlement_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace spillway::postgres {
namespace {

using model::SettlementState;
using model::Verdict;

constexpr Verdict kVerdicts[] = {Verdict::kPublish,  Verdict::kReconcile, Verdict::kDiscard,
                                 Verdict::kSetAside, Verdict::kStopped,   Verdict::kWaiting};
constexpr SettlementState kStates[] = {SettlementState::kOpen, SettlementState::kReleased, SettlementState::kDone};

std::string storable(std::string text) {
  std::ranges::replace(text, '\0', ' ');
  return text;
}

}  // namespace

const char* state_name(SettlementState state) {
  switch (state) {
    case SettlementState::kOpen: return "open";
    case SettlementState::kReleased: return "released";
    case SettlementState::kDone: return "done";
  }
  return "unknown";
}

model::Settlement settlement_from(const Answer& answer, int row) {
  model::Settlement s;
  s.seq = answer.number(row, 0);
  s.id = base::parse_uuid(answer.text(row, 1)).value_or(base::Uuid{});
  if (!answer.is_null(row, 2)) s.key = std::string(answer.text(row, 2));
  s.topic = answer.text(row, 3);
  s.type = answer.text(row, 4);
  s.bytes = answer.number(row, 5);
  for (const Verdict verdict : kVerdicts) {
    if (answer.text(row, 6) == to_string(verdict)) s.verdict = verdict;
  }
  for (const SettlementState state : kStates) {
    if (answer.text(row, 7) == state_name(state)) s.state = state;
  }
  s.rule = answer.text(row, 8);
  s.reason = answer.text(row, 9);
  s.who = answer.text(row, 10);
  s.since_unix_micros = answer.number(row, 11);
  return s;
}

std::string settlements_json(std::span<const model::Settlement> settlements) {
  std::map<std::int64_t, nlohmann::json> by_seq;
  for (const model::Settlement& s : settlements) {
    nlohmann::json entry{{"seq", s.seq},
                         {"id", base::to_string(s.id)},
                         {"topic", storable(s.topic)},
                         {"type", storable(s.type)},
                         {"bytes", s.bytes},
                         {"verdict", to_string(s.verdict)},
                         {"state", state_name(s.state)},
                         {"rule", storable(s.rule)},
                         {"reason", storable(s.reason)},
                         {"who", storable(s.who)}};
    if (s.key) entry["key"] = storable(*s.key);
    by_seq.insert_or_assign(s.seq, std::move(entry));
  }
  nlohmann::json all = nlohmann::json::array();
  for (auto& [seq, entry] : by_seq) all.push_back(std::move(entry));
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string array_text(std::span<const std::int64_t> numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ",")); }

std::string array_text(std::span<const std::string> texts) {
  std::string array = "{";
  for (const std::string& text : texts) {
    array += array.size() == 1 ? "\"" : ",\"";
    for (const char c : storable(text)) {
      if (c == '"' || c == '\\') array += '\\';
      array += c;
    }
    array += '"';
  }
  return array + "}";
}

}  // namespace spillway::postgres
