#include "config/redact.h"

#include <algorithm>
#include <cctype>

namespace spillway::config {
namespace {

constexpr std::string_view kHidden = "***";

void hide_userinfo(std::string& text) {
  std::size_t from = 0;
  while ((from = text.find("://", from)) != text.npos) {
    from += 3;
    // White space does not end it: a password may hold some by mistake.
    const auto end = std::min(text.find("://", from), text.size());
    const auto at = text.rfind('@', end);
    const auto colon = text.find(':', from);
    if (colon >= end) continue;
    if (at != text.npos && at > colon && at < end) {
      text.replace(colon + 1, at - colon - 1, kHidden);
      from = colon + kHidden.size();
      continue;
    }
    // Without '@' this should be a port; a word here is a password whose host was forgotten.
    const auto stop = std::min({text.find_first_of("/?,", colon), end});
    const auto port = text.substr(colon + 1, stop - colon - 1);
    const bool digits = std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits && text[from] != '[') text.replace(colon + 1, stop - colon - 1, kHidden);
  }
}

void hide_parameter(std::string& text, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  auto from = text.begin();
  while (true) {
    const auto found = std::search(from, text.end(), name.begin(), name.end(), same);
    if (found == text.end()) return;
    const auto value = static_cast<std::size_t>(found - text.begin()) + name.size();
    const auto end = std::min(text.find_first_of("& \t\n", value), text.size());
    text.replace(value, end - value, kHidden);
    from = text.begin() + static_cast<std::ptrdiff_t>(value + kHidden.size());
  }
}

}  // namespace

std::string redact(std::string_view text) {
  std::string result(text);
  hide_userinfo(result);
  for (const std::string_view name : {"password=", "token=", "secret=", "passphrase="}) hide_parameter(result, name);
  return result;
}

}  // namespace spillway::config
