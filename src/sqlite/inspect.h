// Whether a relay can work on a file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

// kMisconfigured with the remedy where it cannot; the strings are warnings.
base::Result<std::vector<std::string>> inspect_file(const StoreOptions& options);

}  // namespace spillway::sqlite
