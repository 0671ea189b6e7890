// What a librdkafka property may not be set to, because a promise would break.
#pragma once

#include <optional>
#include <string_view>

#include "config/quantity.h"

namespace spillway::config {

// What is wrong with this setting, or nothing. Names that are not known here are librdkafka's to judge.
std::optional<Misread> check_property(std::string_view name, std::string_view value);

// Whether the value must never be printed: passwords, private keys, tokens.
bool is_secret_property(std::string_view name);

}  // namespace spillway::config
