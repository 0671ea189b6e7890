#include "triage/header_condition.h"

#include <nlohmann/json.hpp>

namespace spillway::triage {
namespace {

using Json = nlohmann::ordered_json;

std::string as_pointer(const std::string& name) {
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

bool is_pointer(const std::string& text) {
  try {
    static_cast<void>(Json::json_pointer(text));
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

// The value at the pointer; null where there is none.
const Json* find(const Json& object, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  try {
    return object.contains(at) ? &object.at(at) : nullptr;
  } catch (const Json::exception&) {  // an index into an array that is no number
    return nullptr;
  }
}

}  // namespace

std::expected<HeaderCondition, std::string> HeaderCondition::make(const std::map<std::string, std::string>& values) {
  HeaderCondition condition;
  for (const auto& [name, value] : values) {
    if (!name.starts_with('/')) {
      condition.wanted_.push_back({as_pointer(name), value});
    } else if (is_pointer(name)) {
      condition.wanted_.push_back({name, value});
    } else {
      return std::unexpected("holds " + name + ", which is no JSON pointer: after ~ comes 0 or 1");
    }
  }
  return condition;
}

std::expected<bool, std::string> HeaderCondition::holds(std::string_view headers) const {
  const Json object = Json::parse(headers, nullptr, false);
  if (!object.is_object()) return std::unexpected("its headers are no JSON object");
  for (const Wanted& wanted : wanted_) {
    const Json* found = find(object, wanted.pointer);
    if (found == nullptr) return false;
    const bool equal = found->is_string() ? found->get_ref<const std::string&>() == wanted.value
                                          : found->dump(-1, ' ', false, Json::error_handler_t::replace) == wanted.value;
    if (!equal) return false;
  }
  return true;
}

}  // namespace spillway::triage
