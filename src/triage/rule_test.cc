#include "triage/rule.h"

#include <gtest/gtest.h>

namespace spillway::triage {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;

constexpr std::int64_t kNow = 1'700'000'000'000'000;

model::Row row_of(std::string_view type, std::optional<std::string_view> headers, Timestamp created_at) {
  model::Row row;
  row.type = type;
  row.headers = headers;
  row.created_at = created_at;
  return row;
}

model::Row created(Timestamp at) { return row_of("", std::nullopt, at); }

bool may_match(const RuleSpec& spec, const model::Row& row, std::optional<std::string_view> key = "k-1") {
  const auto rule = Rule::compile(spec);
  EXPECT_TRUE(rule);
  const auto answer = rule->may_match(row, key, kNow);
  EXPECT_TRUE(answer) << answer.error();
  return answer.value_or(false);
}

TEST(Rule, EveryConditionGivenMustHold) {
  const RuleSpec spec{.type = "session.*", .key = "k-*", .header = {{"tenant", "acme"}}, .older_than = 30min};
  const model::Row row = row_of("session.started", R"({"tenant":"acme"})", Timestamp::at(0));
  EXPECT_TRUE(may_match(spec, row));
  EXPECT_FALSE(may_match(spec, row, "j-1"));
  EXPECT_FALSE(may_match(spec, row, std::nullopt));
  model::Row other = row;
  other.type = "payment.settled";
  EXPECT_FALSE(may_match(spec, other));
  other = row;
  other.headers = R"({"tenant":"other"})";
  EXPECT_FALSE(may_match(spec, other));
  other.headers = std::nullopt;
  EXPECT_FALSE(may_match(spec, other));
  other = row;
  other.created_at = Timestamp::at(kNow);
  EXPECT_FALSE(may_match(spec, other));
}

TEST(Rule, AnAgeBeginsExactlyAtItsLimit) {
  const RuleSpec spec{.older_than = 30min};
  const std::int64_t limit = kNow - std::chrono::microseconds(30min).count();
  EXPECT_TRUE(may_match(spec, created(Timestamp::at(limit))));
  EXPECT_FALSE(may_match(spec, created(Timestamp::at(limit + 1))));
  EXPECT_FALSE(may_match(spec, created(Timestamp::at(kNow + 1))));
}

TEST(Rule, ARowWithoutATimeHasNoAge) {
  for (const auto kind : {Timestamp::Kind::kNull, Timestamp::Kind::kInfinity, Timestamp::Kind::kMinusInfinity}) {
    EXPECT_FALSE(may_match({.older_than = 1s}, created({kind, 0})));
  }
}

TEST(Rule, HeadersThatAreNoJsonAreAnError) {
  const auto rule = Rule::compile({.type = "a", .header = {{"x", "1"}}});
  EXPECT_FALSE(rule->may_match(row_of("a", "x=1", {}), "", kNow));
  EXPECT_TRUE(rule->may_match(row_of("b", "x=1", {}), "", kNow)) << "the type already says no";
}

TEST(Rule, ItsReasonSaysWhatMatched) {
  EXPECT_EQ(Rule::compile({.type = "session.*", .older_than = 90min})->reason(), "type session.*, older than 90m");
  EXPECT_EQ(Rule::compile({.key = "a*", .header = {{"t", "x"}}, .sql = "select 1", .newer_for_key = true})->reason(),
            "key a*, header t is x, a newer event of its key and type follows, the rule's query found a row");
}

TEST(Rule, WhatIsWrongIsNamed) {
  const auto sql = Rule::compile({.sql = "select $x"});
  ASSERT_FALSE(sql);
  EXPECT_EQ(sql.error().condition, "sql");
  EXPECT_TRUE(sql.error().problem.starts_with("has the placeholder $x;"));
  const auto header = Rule::compile({.header = {{"/~", "a"}}});
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().condition, "header");
}

TEST(Rule, ItNeedsTheKeyOnlyWhereItNamesIt) {
  EXPECT_FALSE(Rule::compile({.sql = "select $type"})->needs_key());
  EXPECT_TRUE(Rule::compile({.sql = "select $key"})->needs_key());
  EXPECT_TRUE(Rule::compile({.key = "*"})->needs_key());
}

TEST(Rule, SpansHaveTheirLargestUnit) {
  EXPECT_EQ(span_text(48h), "2d");
  EXPECT_EQ(span_text(36h), "36h");
  EXPECT_EQ(span_text(90s), "90s");
  EXPECT_EQ(span_text(1500us), "1500us");
}

}  // namespace
}  // namespace spillway::triage
