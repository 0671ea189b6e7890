// How a settlement lies in spillway.settled.
#pragma once

#include <span>
#include <string>

#include "model/settlement.h"
#include "postgres/connection.h"

namespace spillway::postgres {

// The columns that settlement_from expects.
inline constexpr char kSettlementColumns[] =
    "seq, id, key, topic, type, bytes, verdict, state, rule, reason, who, "
    "(extract(epoch from since) * 1000000)::bigint";

model::Settlement settlement_from(const Answer& answer, int row);

// A JSON array for jsonb_to_recordset, each seq once: of several the last. NUL characters, which PostgreSQL's text
// cannot hold, become spaces.
std::string settlements_json(std::span<const model::Settlement> settlements);

const char* state_name(model::SettlementState state);

// "{1,2,3}" for a parameter of type bigint[].
std::string array_text(std::span<const std::int64_t> numbers);
std::string array_text(std::span<const std::string> texts);

}  // namespace spillway::postgres
