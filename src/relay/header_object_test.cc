#include "relay/header_object.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <nlohmann/json.hpp>

namespace spillway::relay {
namespace {

// The members, the last of each name; empty where it is no object.
std::optional<std::map<std::string, std::string>> members(std::string_view json) {
  HeaderObject object(json);
  std::map<std::string, std::string> found;
  std::string name, value;
  while (const auto member = object.next(name, value)) found[std::string(member->name)] = member->value;
  if (!object.good()) return std::nullopt;
  return found;
}

TEST(HeaderObject, RefusesWhatIsNotOneObject) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "1",
                           "null",
                           "{",
                           "}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{a:1}",
                           "{\"a\":1}}",
                           "{\"a\":1} 2",
                           "{\"a\":01}",
                           "{\"a\":-}",
                           "{\"a\":1.}",
                           "{\"a\":1e}",
                           "{\"a\":.5}",
                           "{\"a\":tru}",
                           "{\"a\":[1,]}",
                           "{\"a\":[1 2]}",
                           "{\"a\":{\"b\":1,}}",
                           "{\"a\":\"x}",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\n\"}",
                           "{\"a\":\"\\",
                           "{\"a\":1 \"b\":2}",
                           "{\"a\" 1}"}) {
    EXPECT_FALSE(members(text)) << text;
  }
  EXPECT_FALSE(members("{\"a\":" + std::string(100'000, '[')));
}

TEST(HeaderObject, AgreesWithAFullParserOnWhateverItIsGiven) {
  EXPECT_TRUE(rc::check([] {
    std::string text = "{";
    for (int i = 0, n = *rc::gen::inRange(0, 12); i < n; ++i) {
      text += *rc::gen::element<std::string>("\"a\"", "\"b\\u00e9\"", ":", ":", ",", ",", "1", "-2.5e3", "[", "]", "{",
                                             "}", "true", "null", " ", "\"\\\"\"", "0");
    }
    if (*rc::gen::arbitrary<bool>()) text += "}";
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    const auto found = members(text);
    RC_ASSERT(found.has_value() == parsed.is_object());
    if (!found) return;
    RC_ASSERT(found->size() == parsed.size());
    for (const auto& [name, value] : *found) {
      const auto& expected = parsed.at(name);
      const bool same =
          expected.is_string() ? value == expected.get<std::string>() : nlohmann::json::parse(value) == expected;
      RC_ASSERT(same);
    }
  }));
}

}  // namespace
}  // namespace spillway::relay
