// The text of what keeps a partitioned outbox going: a function that adds days and one that drops them. @…@ marks are
// filled in by init_sql.
#pragma once

namespace spillway::postgres {

extern const char* const kDaysSql;

// The days ahead, for SQL that people run; a day that cannot be had now is a warning.
extern const char* const kFirstDaysSql;

}  // namespace spillway::postgres
