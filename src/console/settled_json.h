// Settled events as JSON; the same for the command and for HTTP.
#pragma once

#include <span>
#include <string>

#include "console/selection.h"
#include "model/row.h"

namespace spillway::console {

// [{"id", "key", "topic", "type", "reason", "rule", "since", "bytes", …}]; ends with a line end.
std::string list_json(std::span<const model::Settlement> events);

// One event with its headers; with its payload only where it may be shown: as text where it is UTF-8, else in base64
// under "payload_base64". `page` is what OperatorSession::settled_row gave; it may be empty.
std::string event_json(const model::Settlement& event, const model::Page& page, bool with_payload);

// An event that nothing is recorded for: {"id", "state", "seq", "type", "aggregateid", …}.
std::string row_json(const model::Row& row, const char* state, bool with_payload);

// {"count", "more", "oldest", "newest", "up_to_seq"}
std::string preview_json(const Preview& shown);

const char* state_name(model::SettlementState state);

}  // namespace spillway::console
