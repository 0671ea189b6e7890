// The SQL of a rule, cut at its placeholders.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "ports/predicate.h"

namespace spillway::triage {

// $aggregateid, $aggregatetype, $type, $id, $seq and $key stand for the event's own. A $ inside a string, a quoted
// name, a comment, a dollar-quoted text or a name is left alone. A semicolon at the end is left out.
// The error is a clause about the query: "has the placeholder $agregateid; expected …".
std::expected<ports::Predicate, std::string> parse_query(std::string_view sql);

}  // namespace spillway::triage
