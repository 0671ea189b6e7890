// How progress lies in the columns live_from, live_to, live_last, backlog, read_up_to, capacity.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ports/outbox_store.h"
#include "postgres/connection.h"

namespace spillway::postgres {

// Text for the six columns, in that order.
std::vector<Value> progress_values(const ports::Progress& progress);

// The six columns of an answer, from `column` on. kMisconfigured where somebody wrote something else into them.
base::Result<ports::Progress> progress_from(const Answer& answer, int row, int column);

// An SQL condition: the row of alias `row` (columns tx, seq) is finished according to the first four columns of
// `place`.
std::string finished_sql(const std::string& row, const std::string& place);

}  // namespace spillway::postgres
