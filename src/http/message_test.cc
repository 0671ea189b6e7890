#include "http/message.h"

#include <gtest/gtest.h>

namespace spillway::http {
namespace {

TEST(SplitTarget, DecodesPathAndQuery) {
  Request request;
  ASSERT_TRUE(split_target("/api/a%20b?type=payment.%2A&verbose&x=1+2&x=3", request));
  EXPECT_EQ(request.path, "/api/a b");
  EXPECT_EQ(request.query_value("type"), "payment.*");
  EXPECT_TRUE(request.query.contains("verbose"));
  EXPECT_EQ(request.query_value("x"), "3");
  EXPECT_EQ(request.query_value("absent"), "");
}

TEST(SplitTarget, RefusesWhatIsNoPath) {
  for (const char* target : {"", "api", "http://x/", "/a%2", "/a%zz", "/a?b=%g1"}) {
    Request request;
    EXPECT_FALSE(split_target(target, request)) << target;
  }
}

TEST(ErrorResponse, IsJsonWhateverTheMessage) {
  EXPECT_EQ(error_response(400, "say \"no\"").body, "{\"error\":\"say \\\"no\\\"\"}\n");
}

}  // namespace
}  // namespace spillway::http
