// Settlements as spillway_settled holds them.
#pragma once

#include <string_view>

#include "model/settlement.h"
#include "sqlite/statement.h"

namespace spillway::sqlite {

// The columns that `settlement_in` expects, in this order.
#define SPILLWAY_SQLITE_SETTLEMENT_COLUMNS "seq, id, key, topic, type, bytes, verdict, state, rule, reason, who, since"

model::Settlement settlement_in(const Statement& statement);

// "open", "released", "done".
std::string_view state_name(model::SettlementState state);

}  // namespace spillway::sqlite
