// The text of the schema. @…@ marks are filled in by init_sql.
#pragma once

namespace spillway::postgres {

extern const char* const kOutboxTableSql;
extern const char* const kPartitionedTableSql;
extern const char* const kSideTablesSql;
extern const char* const kEmitSql;
extern const char* const kInboxSql;
extern const char* const kNotifySql;
extern const char* const kRolesSql;

}  // namespace spillway::postgres
