#include "config/fault.h"

#include <fmt/format.h>

namespace spillway::config {

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kFile: return "file";
    case FaultKind::kSyntax: return "syntax";
    case FaultKind::kUnknownKey: return "unknown_key";
    case FaultKind::kDuplicateKey: return "duplicate_key";
    case FaultKind::kMissing: return "missing";
    case FaultKind::kWrongType: return "wrong_type";
    case FaultKind::kOutOfRange: return "out_of_range";
    case FaultKind::kUnknownChoice: return "unknown_choice";
    case FaultKind::kBadFormat: return "bad_format";
    case FaultKind::kBadReference: return "bad_reference";
    case FaultKind::kConflict: return "conflict";
    case FaultKind::kUnsafe: return "unsafe";
  }
  return "unknown";
}

std::string to_string(const Fault& fault) {
  std::string text = to_string(fault.origin) + ":";
  if (!fault.key.empty()) text += " " + fault.key;
  text += " " + fault.problem;
  if (!fault.value.empty()) text += ": " + fault.value;
  if (!fault.expected.empty()) text += "; expected " + fault.expected;
  if (!fault.nearest.empty()) text += "; did you mean " + fault.nearest + "?";
  if (!fault.remedy.empty()) text += (fault.nearest.empty() ? "; " : " ") + fault.remedy;
  return text;
}

std::string to_string(const Warning& warning) {
  return fmt::format("{}: {} {}", to_string(warning.origin), warning.key, warning.text);
}

}  // namespace spillway::config
