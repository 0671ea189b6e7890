#include "relay/route.h"

#include <gtest/gtest.h>

#include <utility>

namespace spillway::relay {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kNow = 1'700'000'000'000'000;

class RouteTest : public testing::Test {
 protected:
  RouteTest() {
    row_.id = *base::parse_uuid("01890a5d-ac96-774b-bcce-b302099a8057");
    row_.aggregate_type = "account";
    row_.aggregate_id = "a-1";
    row_.type = "opened";
    row_.created_at = model::Timestamp::at(kNow - 5'000'000);
  }

  base::Result<Addressed> address(const RouteOptions& options = {}) {
    route_.emplace(*Route::make(options));
    return route_->address(row_, kNow);
  }
  Headers headers(const RouteOptions& options = {}) {
    Headers found;
    const auto addressed = address(options);
    for (const ports::Header& header : addressed->headers) found.emplace_back(header.name, header.value);
    return found;
  }

  const std::string id_ = "01890a5d-ac96-774b-bcce-b302099a8057";
  model::Row row_;
  std::optional<Route> route_;
};

TEST_F(RouteTest, FillsTheTemplatesOfTopicAndKey) {
  const auto addressed = address({.topic = "{type}.of.{aggregatetype}", .key = "{aggregateid}/{id}"});
  EXPECT_EQ(addressed->topic, "opened.of.account");
  EXPECT_EQ(addressed->key, "a-1/" + id_);
  EXPECT_EQ(addressed->unix_millis, (kNow - 5'000'000) / 1000);
}

TEST_F(RouteTest, AFieldThatDoesNotExistIsNamedWithThoseThatDo) {
  for (const char* text : {"x.{agregatetype}", "x.{type", "{}"}) {
    const auto made = Route::make({.topic = text});
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().error_class, base::ErrorClass::kMisconfigured);
    EXPECT_NE(made.error().message.find("{aggregatetype}, {aggregateid}, {type} or {id}"), std::string::npos);
  }
}

TEST_F(RouteTest, WithoutAnAggregateTheKeyIsNullAndATopicThatNeedsItIsRefused) {
  row_.aggregate_id.reset();
  EXPECT_EQ(address()->key, std::nullopt);
  EXPECT_EQ(address({.key = "k-{aggregateid}"})->key, std::nullopt);
  const auto refused = address({.topic = "t.{aggregateid}"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, base::ErrorClass::kRejected);
}

TEST_F(RouteTest, TheRowsOwnHeadersFollowInTheOrderOfJsonb) {
  row_.headers = R"({"bb":"2","traceparent":"00-1","a":"1","aa":"3"})";
  EXPECT_EQ(headers(),
            (Headers{{"id", id_}, {"type", "opened"}, {"a", "1"}, {"aa", "3"}, {"bb", "2"}, {"traceparent", "00-1"}}));
}

TEST_F(RouteTest, HeaderValuesThatAreNotTextAreCompactJson) {
  row_.headers = R"({"n": 1.50, "o": {"b": [1, null]}, "t": true, "u": "\u00e9\n", "z": null})";
  EXPECT_EQ(headers(), (Headers{{"id", id_},
                                {"type", "opened"},
                                {"n", "1.50"},
                                {"o", R"({"b":[1,null]})"},
                                {"t", "true"},
                                {"u", "\u00e9\n"},
                                {"z", "null"}}));
}

TEST_F(RouteTest, NoDigitOfANumberIsLost) {
  row_.headers = R"({"amount": 12345678901234567890.123456789, "e": -1E+400})";
  EXPECT_EQ(headers().at(3).second, "12345678901234567890.123456789");
  EXPECT_EQ(headers().at(2).second, "-1E+400");
}

TEST_F(RouteTest, BlanksAndBracesInsideTextStay) {
  row_.headers = " {\n\"a b\" : { \"x y\" : \" \\\" } ,\" , \"l\" : [ ] } , \"q\":\"}\\\\\" , \"\":\"\" } ";
  EXPECT_EQ(headers(),
            (Headers{{"id", id_}, {"type", "opened"}, {"", ""}, {"q", "}\\"}, {"a b", R"({"x y":" \" } ,","l":[]})"}}));
}

TEST_F(RouteTest, OfANameThatStandsTwiceTheLastCounts) {
  row_.headers = R"({"a":"1","b":"x","a":"2","\u0061":"3"})";
  EXPECT_EQ(headers(), (Headers{{"id", id_}, {"type", "opened"}, {"a", "3"}, {"b", "x"}}));
}

TEST_F(RouteTest, HeadersThatAreNotAnObjectAreRefused) {
  for (const char* text : {"[1]", "1", "null", "{", "", R"({"a":1} x)"}) {
    row_.headers = text;
    const auto refused = address();
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().error_class, base::ErrorClass::kRejected);
  }
}

TEST_F(RouteTest, ARefusedRowLeavesNothingBehindForTheNext) {
  route_.emplace(*Route::make({}));
  row_.headers = "[1]";
  EXPECT_FALSE(route_->address(row_, kNow));
  row_.headers = R"({"a":"1"})";
  EXPECT_EQ(route_->address(row_, kNow)->headers.size(), 3u);
}

TEST_F(RouteTest, AnUnusableTimeTravelsInAHeader) {
  row_.created_at = {model::Timestamp::Kind::kInfinity, 0};
  EXPECT_EQ(headers(), (Headers{{"id", id_}, {"type", "opened"}, {"spillway-created-at", "infinity"}}));
  EXPECT_EQ(address()->unix_millis, kNow / 1000);
}

TEST_F(RouteTest, CloudEventsComeFirstAndWithoutSubjectWhereThereIsNone) {
  row_.created_at = model::Timestamp::at(kNow);
  const Headers with = headers({.cloudevents = true});
  EXPECT_EQ(with, (Headers{{"ce_specversion", "1.0"},
                           {"ce_id", id_},
                           {"ce_type", "opened"},
                           {"ce_source", "/account"},
                           {"ce_subject", "a-1"},
                           {"ce_time", model::to_string(model::Timestamp::at(kNow))},
                           {"id", id_},
                           {"type", "opened"}}));
  row_.aggregate_id.reset();
  EXPECT_EQ(headers({.cloudevents = true}).size(), with.size() - 1);
}

}  // namespace
}  // namespace spillway::relay
