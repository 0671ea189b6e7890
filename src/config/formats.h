// Texts that have a form of their own: URLs, templates, names. Each check says what is wrong, or nothing.
#pragma once

#include <optional>
#include <string_view>

#include "config/quantity.h"

namespace spillway::config {

using Check = std::optional<Misread> (*)(std::string_view text);

std::optional<Misread> check_not_empty(std::string_view text);
std::optional<Misread> check_store(std::string_view text);         // postgresql://, postgres:// or sqlite:PATH
std::optional<Misread> check_postgres_url(std::string_view text);  // empty is allowed
std::optional<Misread> check_http_url(std::string_view text);
std::optional<Misread> check_table(std::string_view text);           // table or schema.table
std::optional<Misread> check_name(std::string_view text);            // a label: letters, digits, '_', '-', '.'
std::optional<Misread> check_topic(std::string_view text);           // a legal topic name
std::optional<Misread> check_topic_template(std::string_view text);  // the same with {placeholders}
std::optional<Misread> check_template(std::string_view text);        // any text with {placeholders}

}  // namespace spillway::config
