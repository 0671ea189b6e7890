#include "sqlite/library_version.h"

#include <sqlite3.h>

namespace spillway::sqlite {

std::string library_version() { return sqlite3_libversion(); }

}  // namespace spillway::sqlite
