#include "base/uuid.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace spillway::base {
namespace {

TEST(Uuid, ReadsEitherCaseAndWritesLowerCase) {
  const auto id = parse_uuid("0190F5E2-9C3A-7B01-8000-00000000ABCD");
  ASSERT_TRUE(id);
  EXPECT_EQ(to_string(*id), "0190f5e2-9c3a-7b01-8000-00000000abcd");
}

TEST(Uuid, RefusesEveryOtherForm) {
  for (const char* text : {"", "0190f5e29c3a7b01800000000000abcd", "0190f5e2-9c3a-7b01-8000-00000000abc",
                           "0190f5e2-9c3a-7b01-8000-00000000abcg", "0190f5e2-9c3a-7b01-8000_00000000abcd",
                           "{190f5e2-9c3a-7b01-8000-00000000abcd}"}) {
    EXPECT_FALSE(parse_uuid(text)) << text;
  }
}

TEST(Uuid, EveryValueSurvivesTheRoundTrip) {
  EXPECT_TRUE(rc::check([](std::array<std::uint8_t, 16> bytes) {
    const Uuid id{bytes};
    RC_ASSERT(parse_uuid(to_string(id)) == id);
  }));
}

TEST(Uuid, RandomOnesDiffer) { EXPECT_NE(random_uuid(), random_uuid()); }

}  // namespace
}  // namespace spillway::base
