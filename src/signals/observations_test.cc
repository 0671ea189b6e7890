#include "signals/observations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace spillway::signals {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view body) {
  const auto read = read_observations(body);
  return read ? "taken" : read.error().message;
}

TEST(ReadObservations, TakesAListAndASingleOne) {
  const auto list = read_observations(R"([{"name":"bank","latency_ms":151.2,"ok":true},
                                          {"name":"bank","latency_ms":3,"ok":false,"count":7}])");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2u);
  EXPECT_DOUBLE_EQ((*list)[0].latency_s, 0.1512);
  EXPECT_FALSE((*list)[1].ok);
  EXPECT_EQ((*list)[1].count, 7);
  EXPECT_EQ(read_observations(R"({"name":"bank","latency_ms":1})")->size(), 1u);
  EXPECT_TRUE(read_observations("[]")->empty());
}

TEST(ReadObservations, SaysWhichEntryIsWrongAndHow) {
  EXPECT_EQ(refusal_of("nonsense"), "the body is no JSON");
  EXPECT_THAT(refusal_of("7"), HasSubstr("expected a list"));
  EXPECT_EQ(refusal_of(R"([{"name":"a","latency_ms":1},{"latency_ms":1}])"), "observation 2 has no name");
  EXPECT_EQ(refusal_of(R"([{"name":"a"}])"), "observation 1 has no latency_ms");
  EXPECT_EQ(refusal_of(R"([{"name":"a","duration":1}])"),
            "observation 1 has an unknown field \"duration\", expected name, latency_ms, ok, count");
  EXPECT_EQ(refusal_of(R"([{"name":"a","latency":1}])"),
            "observation 1 has an unknown field \"latency\", did you mean latency_ms?");
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":-1}])"), HasSubstr("latency_ms"));
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":"1"}])"), HasSubstr("latency_ms"));
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":1e300}])"), HasSubstr("latency_ms"));
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":1,"ok":1}])"), HasSubstr("neither true nor false"));
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":1,"count":0}])"), HasSubstr("count"));
  EXPECT_THAT(refusal_of(R"([{"name":"a","latency_ms":1,"count":1.5}])"), HasSubstr("count"));
  EXPECT_THAT(refusal_of(R"([[]])"), HasSubstr("is no object"));
}

RC_GTEST_PROP(ReadObservationsProperty, SurvivesAnyBytes, (const std::string& body)) {
  const auto read = read_observations(body);
  RC_ASSERT(read || !read.error().message.empty());
}

}  // namespace
}  // namespace spillway::signals
