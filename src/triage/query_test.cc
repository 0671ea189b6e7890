#include "triage/query.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace spillway::triage {
namespace {

// The query with <field> where a store puts its reference.
std::string cut(std::string_view sql) {
  constexpr const char* kNames[] = {"seq", "id", "aggregatetype", "aggregateid", "type", "key"};
  const auto predicate = parse_query(sql);
  if (!predicate) return "error: " + predicate.error();
  std::string text;
  for (const auto& piece : predicate->pieces) {
    text += piece.text;
    if (piece.field) text += std::string("<") + kNames[static_cast<int>(*piece.field)] + ">";
  }
  return text;
}

TEST(Query, PlaceholdersBecomeFields) {
  EXPECT_EQ(cut("select 1 from ledger where transaction_id = $aggregateid"),
            "select 1 from ledger where transaction_id = <aggregateid>");
  EXPECT_EQ(cut("select $seq,$id,$aggregatetype,$aggregateid,$type,$key"),
            "select <seq>,<id>,<aggregatetype>,<aggregateid>,<type>,<key>");
  EXPECT_EQ(cut("$aggregateid::uuid=x"), "<aggregateid>::uuid=x");
  EXPECT_EQ(cut("array[$type]"), "array[<type>]");
}

TEST(Query, ASemicolonAtTheEndIsLeftOut) {
  EXPECT_EQ(cut("select 1;\n"), "select 1");
  EXPECT_EQ(cut(" ;\n"), "error: is empty");
  EXPECT_EQ(cut(""), "error: is empty");
}

TEST(Query, UnknownPlaceholdersAreRefused) {
  EXPECT_EQ(cut("select $agregateid"),
            "error: has the placeholder $agregateid; expected $aggregateid, $aggregatetype, $type, $id, $seq or $key");
  EXPECT_TRUE(cut("select $types").starts_with("error: has the placeholder $types;"));
  EXPECT_TRUE(cut("select $Type").starts_with("error: has the placeholder $Type;"));
  EXPECT_TRUE(cut("select $1").starts_with("error: has the placeholder $1;"));
  EXPECT_TRUE(cut("select $").starts_with("error: has the placeholder $;"));
}

TEST(Query, ADollarInsideSomethingElseIsLeftAlone) {
  for (const char* sql :
       {"'$type'", "'it''s $type'", "\"$type\"", "-- $type", "/* $type /* $x */ $id */ 1", "$$ $type $$",
        "$type$ $x $type$", "E'\\'$type'", "json_extract(h, '$.type')", "a$type", "x_1$id"}) {
    EXPECT_EQ(cut(sql), sql);
  }
  EXPECT_EQ(cut("-- $x\n$type"), "-- $x\n<type>");
  EXPECT_EQ(cut("'\\' || $type"), "'\\' || <type>") << "a backslash means nothing in a plain string";
  EXPECT_EQ(cut("type'' || $type"), "type'' || <type>");
}

TEST(Query, WhatHasNoEndIsRefused) {
  EXPECT_EQ(cut("select '$type"), "error: has a ' without its end");
  EXPECT_EQ(cut("select \"a"), "error: has a \" without its end");
  EXPECT_EQ(cut("select /* /* */"), "error: has a /* without its end");
  EXPECT_EQ(cut("select $x$ a $y$"), "error: has a $x$ without its end");
}

RC_GTEST_PROP(Query, WithoutADollarEveryQueryStaysAsItIs, ()) {
  const auto letters = rc::gen::elementOf(std::string("ab 1'\"-/*\\E\n=("));
  const auto sql = *rc::gen::container<std::string>(letters) + "x";
  const auto predicate = parse_query(sql);
  if (!predicate) return;
  RC_ASSERT(predicate->pieces.size() == 1U);
  RC_ASSERT(predicate->pieces[0].text == sql);
}

}  // namespace
}  // namespace spillway::triage
