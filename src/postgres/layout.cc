#include "postgres/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string TableLayout::pending_sql() const {
  if (status.empty()) return "true";
  const std::string column = "o." + identifier(status);
  if (status_pending.empty()) return column + " is null";
  if (status_pending.size() == 1) return column + " = " + literal(status_pending.front());
  std::vector<std::string> values;
  for (const std::string& value : status_pending) values.push_back(literal(value));
  return fmt::format("{} in ({})", column, fmt::join(values, ", "));
}

std::string TableLayout::mark_sql(std::string_view condition) const {
  if (status.empty()) return fmt::format("delete from {} o where {} returning 1", qualified(), condition);
  return fmt::format("update {} o set {} = {} where {} and {} returning 1", qualified(), identifier(status),
                     status_done.empty() ? "clock_timestamp()" : literal(status_done), pending_sql(), condition);
}

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
