#include "sqlite/settlement_columns.h"

#include <array>

namespace spillway::sqlite {
namespace {

using model::SettlementState;
using model::Verdict;

constexpr std::array kVerdicts = {Verdict::kPublish,  Verdict::kReconcile, Verdict::kDiscard,
                                  Verdict::kSetAside, Verdict::kStopped,   Verdict::kWaiting};

Verdict verdict_named(std::string_view name) {
  for (Verdict verdict : kVerdicts) {
    if (name == to_string(verdict)) return verdict;
  }
  return Verdict::kSetAside;
}

SettlementState state_named(std::string_view name) {
  if (name == state_name(SettlementState::kDone)) return SettlementState::kDone;
  if (name == state_name(SettlementState::kReleased)) return SettlementState::kReleased;
  return SettlementState::kOpen;
}

}  // namespace

std::string_view state_name(SettlementState state) {
  switch (state) {
    case SettlementState::kOpen: return "open";
    case SettlementState::kReleased: return "released";
    case SettlementState::kDone: return "done";
  }
  return "open";
}

model::Settlement settlement_in(const Statement& statement) {
  model::Settlement settlement;
  settlement.seq = statement.integer(0);
  settlement.id = base::parse_uuid(statement.text(1)).value_or(base::Uuid{});
  settlement.key = statement.optional_text(2);
  settlement.topic = statement.text(3);
  settlement.type = statement.text(4);
  settlement.bytes = statement.integer(5);
  settlement.verdict = verdict_named(statement.text(6));
  settlement.state = state_named(statement.text(7));
  settlement.rule = statement.text(8);
  settlement.reason = statement.text(9);
  settlement.who = statement.text(10);
  settlement.since_unix_micros = statement.integer(11) * 1000;
  return settlement;
}

}  // namespace spillway::sqlite
