// The Retry-After header (RFC 9110, 10.2.3).
#pragma once

#include <optional>
#include <string>

namespace spillway::http {

// Seconds to wait, 0 to 300; empty where the header is neither seconds nor a date. `date` is the answer's own Date
// header, so that nobody's clock but the sender's is asked.
std::optional<double> retry_after_seconds(const std::string& retry_after, const std::string& date);

}  // namespace spillway::http
