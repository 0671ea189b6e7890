// ${env:NAME} and ${file:PATH} inside values.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "config/load.h"
#include "config/quantity.h"

namespace spillway::config {

// Replaces every reference once: what comes in is not looked at again and may hold any '$'. `$${` stands for a plain
// `${`. A file loses one line end at its end. Any other `${` is an error, so that a slip is never taken for text.
Read<std::string> expand(std::string_view text, const Sources& sources);

// The text that `expand` turns into `text`.
std::string escape_references(std::string_view text);

}  // namespace spillway::config
