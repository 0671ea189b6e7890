// The effective configuration and the reference of all keys, for people.
#pragma once

#include <string>

#include "config/config.h"

namespace spillway::config {

// YAML that loads to the same configuration, each value followed by its origin as a comment. Secrets and the passwords
// in URLs are replaced by ***.
std::string print(const Config& config);

enum class ReferenceFormat { kMarkdown, kText };

// Every key with type, default, range or choices, variable and meaning.
std::string reference(ReferenceFormat format);

}  // namespace spillway::config
