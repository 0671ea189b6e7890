#include "triage/header_condition.h"

#include <gtest/gtest.h>

namespace spillway::triage {
namespace {

bool holds(const std::map<std::string, std::string>& values, std::string_view headers) {
  const auto condition = HeaderCondition::make(values);
  EXPECT_TRUE(condition);
  const auto answer = condition->holds(headers);
  EXPECT_TRUE(answer) << answer.error();
  return answer.value_or(false);
}

TEST(HeaderCondition, EveryValueMustBeThere) {
  EXPECT_TRUE(holds({{"tenant", "acme"}}, R"({"tenant": "acme", "x": 1})"));
  EXPECT_FALSE(holds({{"tenant", "acme"}}, R"({"tenant": "Acme"})"));
  EXPECT_FALSE(holds({{"tenant", "acme"}}, "{}"));
  EXPECT_FALSE(holds({{"tenant", "acme"}, {"x", "2"}}, R"({"tenant": "acme", "x": 1})"));
  EXPECT_TRUE(holds({{"tenant", "acme"}, {"x", "1"}}, R"({"tenant": "acme", "x": 1})"));
}

TEST(HeaderCondition, APointerLooksInsideAndANameDoesNot) {
  EXPECT_TRUE(holds({{"/a/b/1", "y"}}, R"({"a": {"b": ["x", "y"]}})"));
  EXPECT_FALSE(holds({{"/a/b/2", "y"}}, R"({"a": {"b": ["x", "y"]}})"));
  EXPECT_FALSE(holds({{"/a/b/z", "y"}}, R"({"a": {"b": ["x", "y"]}})"));
  EXPECT_TRUE(holds({{"a/b~", "v"}}, R"({"a/b~": "v"})"));
  EXPECT_TRUE(holds({{"/a~1b", "v"}}, R"({"a/b": "v"})"));
}

TEST(HeaderCondition, WhatIsNoStringIsComparedAsCompactJson) {
  EXPECT_TRUE(holds({{"test", "true"}}, R"({"test": true})"));
  EXPECT_TRUE(holds({{"n", "null"}}, R"({"n": null})"));
  EXPECT_TRUE(holds({{"o", R"({"b":1,"a":[]})"}}, R"({"o": {"b": 1, "a": [ ]}})"));
}

TEST(HeaderCondition, WhatCannotBeReadIsAnErrorAndNotANo) {
  const auto condition = HeaderCondition::make({{"a", "b"}});
  EXPECT_FALSE(condition->holds("{\"a\":"));
  EXPECT_FALSE(condition->holds("[1]"));
  EXPECT_FALSE(HeaderCondition::make({{"/a~2", "b"}}));
}

}  // namespace
}  // namespace spillway::triage
