#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "telemetry/log.h"

namespace spillway::telemetry {
namespace {

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return "trace";
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "unknown";
}

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

std::string text_value(const Field::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return needs_quotes(*text) ? quoted(*text) : std::string(*text);
  }
  return std::visit([](const auto& plain) { return fmt::format("{}", plain); }, value);
}

std::string json_value(const Field::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return quoted(*text);
  return std::visit([](const auto& plain) { return nlohmann::json(plain).dump(); }, value);
}

}  // namespace

std::string text_line(LogLevel level, std::string_view message, Fields fields, std::uint64_t suppressed) {
  std::string line = fmt::format("{:<5} {}", name_of(level), message);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  for (const Field& field : fields) line += fmt::format(" {}={}", field.name(), text_value(field.value()));
  if (suppressed > 0) line += fmt::format(" suppressed={}", suppressed);
  return line;
}

std::string json_members(LogLevel level, std::string_view message, Fields fields, std::uint64_t suppressed) {
  std::string members = fmt::format("\"level\":\"{}\",\"message\":{}", name_of(level), quoted(message));
  for (const Field& field : fields) members += fmt::format(",{}:{}", quoted(field.name()), json_value(field.value()));
  if (suppressed > 0) members += fmt::format(",\"suppressed\":{}", suppressed);
  return members;
}

}  // namespace spillway::telemetry
