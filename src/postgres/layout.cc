#include "postgres/layout.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <vector>

namespace spillway::postgres {
namespace {

// One part of a dotted name from the front of `text`; empty where there is none.
std::optional<std::string> take_part(std::string_view& text) {
  std::string part;
  if (text.starts_with('"')) {
    text.remove_prefix(1);
    for (;;) {
      if (text.empty()) return std::nullopt;
      const char c = text.front();
      text.remove_prefix(1);
      if (c == '"') {
        if (!text.starts_with('"')) break;
        text.remove_prefix(1);
      }
      part += c;
    }
  } else {
    while (!text.empty() && text.front() != '.' && text.front() != '"') {
      part += static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
      text.remove_prefix(1);
    }
  }
  if (part.empty()) return std::nullopt;
  return part;
}

std::string doubled(std::string_view text, char what) {
  std::string out;
  for (const char c : text) {
    if (c == what) out += c;
    out += c;
  }
  return out;
}

}  // namespace

std::string identifier(std::string_view name) { return '"' + doubled(name, '"') + '"'; }

std::string literal(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return '\'' + doubled(text, '\'') + '\'';
  return " E'" + doubled(doubled(text, '\''), '\\') + '\'';
}

std::string TableLayout::qualified() const { return identifier(schema) + "." + identifier(table); }

base::Result<TableLayout> layout_of(std::string_view table) {
  std::vector<std::string> parts;
  for (std::string_view rest = table;;) {
    const auto part = take_part(rest);
    if (part) parts.push_back(*part);
    if (part && rest.empty() && parts.size() <= 2) break;
    if (!part || !rest.starts_with('.')) {
      return base::fail(base::ErrorClass::kMisconfigured,
                        fmt::format("outbox.table is '{}': expected table or schema.table", table));
    }
    rest.remove_prefix(1);
  }
  TableLayout layout;
  layout.schema = parts.size() == 2 ? parts[0] : "public";
  layout.table = parts.back();
  return layout;
}

}  // namespace spillway::postgres
