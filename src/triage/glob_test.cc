#include "triage/glob.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace spillway::triage {
namespace {

bool matches(const char* pattern, const char* text) { return Glob(pattern).matches(text); }

TEST(Glob, AStarStandsForAnyText) {
  EXPECT_TRUE(matches("payment.*", "payment.settled"));
  EXPECT_TRUE(matches("payment.*", "payment."));
  EXPECT_FALSE(matches("payment.*", "payment"));
  EXPECT_TRUE(matches("*.settled", "payment.settled"));
  EXPECT_FALSE(matches("*.settled", "payment.settled.v2"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-c-b"));
}

TEST(Glob, EverythingElseStandsForItself) {
  EXPECT_TRUE(matches("a.b", "a.b"));
  EXPECT_FALSE(matches("a.b", "axb"));
  EXPECT_FALSE(matches("a?b", "axb"));
  EXPECT_FALSE(matches("A", "a"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("", ""));
}

bool by_definition(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*')
    return !text.empty() && pattern[0] == text[0] && by_definition(pattern.substr(1), text.substr(1));
  return by_definition(pattern.substr(1), text) || (!text.empty() && by_definition(pattern, text.substr(1)));
}

RC_GTEST_PROP(Glob, AgreesWithItsDefinition, ()) {
  const auto letters = rc::gen::elementOf(std::string("ab*"));
  const auto pattern = *rc::gen::resize(10, rc::gen::container<std::string>(letters));
  const auto text = *rc::gen::resize(12, rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab"))));
  RC_ASSERT(Glob(pattern).matches(text) == by_definition(pattern, text));
}

}  // namespace
}  // namespace spillway::triage
