// Hides what must not be printed.
#pragma once

#include <string>
#include <string_view>

namespace spillway::config {

// The password of a URL and the values of parameters named like secrets (password=, token=, secret=) become ***. Errs
// on the side of hiding: text that does not parse as a URL loses everything between the user and the last '@'.
std::string redact(std::string_view text);

}  // namespace spillway::config
