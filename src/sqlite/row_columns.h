// Rows of spillway_outbox as pages hold them.
#pragma once

#include "model/row.h"
#include "sqlite/statement.h"

namespace spillway::sqlite {

// The columns that `append_row` expects, in this order.
#define SPILLWAY_SQLITE_ROW_COLUMNS "seq, id, aggregatetype, aggregateid, type, payload, headers, created_at"

// Copies the statement's current row into the page and returns its size in bytes. Throws Failure where the id is no
// UUID, which only a writer that switched the table's checks off can bring about.
std::size_t append_row(Statement& statement, const std::string& path, model::Page& page);

}  // namespace spillway::sqlite
