// `created_at` as writers may store it in spillway_outbox.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/timestamp.h"

namespace spillway::sqlite {

// A number: milliseconds since 1970. Saturates where microseconds would not fit.
model::Timestamp created_at_from_millis(std::int64_t millis);

// ISO 8601: "2026-03-01", then optionally "T" or a blank and "12:30", ":15", ".123456", then optionally "Z" or an
// offset such as "+01:00". Without an offset it is UTC, as SQLite's own CURRENT_TIMESTAMP is. Anything else is kNull.
model::Timestamp created_at_from_text(std::string_view text);

}  // namespace spillway::sqlite
