// What a failure of PostgreSQL means for the caller.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::postgres {

// By SQLSTATE. The message gets the remedy where one is known.
base::Error failure_of(std::string_view sqlstate, std::string message);

// Whether a connection that reported this must not be used again: the server goes down, changed its role, or the
// pooler lost it.
bool ends_connection(std::string_view sqlstate);

// libpq gives no SQLSTATE for a connection that was never made, only its message.
base::Error connect_failure(std::string message);

}  // namespace spillway::postgres
