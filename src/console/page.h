// The status page: plain HTML that reloads itself, with nothing from elsewhere.
#pragma once

#include <string>

#include "status/status.h"

namespace spillway::console {

std::string status_page(const status::Status& status);
// Served beside the page, because its content security policy allows no inline style.
const char* style_sheet();

std::string html_escaped(const std::string& text);

}  // namespace spillway::console
