#include "relay/judged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::relay {
namespace {

using testing::ElementsAre;

ports::Interval stretch(std::string from, std::string to, std::optional<std::int64_t> last,
                        std::optional<std::int64_t> judged) {
  return {{{std::move(from), std::move(to)}, last}, 7, judged};
}

constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();

TEST(Judged, NothingIsBeforeTheFirstVerdict) {
  const Judged judged;
  EXPECT_FALSE(judged.covers({"0", "20"}, 1));
  EXPECT_THAT(judged.from({{"0", "20"}, 13}, "20", 7), ElementsAre(stretch("0", "20", 13, std::nullopt)));
}

TEST(Judged, IsKnownWithinTheFrameThatIsBeingRead) {
  Judged judged;
  judged.up_to({"0", "20"}, 15);
  EXPECT_TRUE(judged.covers({"0", "20"}, 15));
  EXPECT_FALSE(judged.covers({"0", "20"}, 16));
  EXPECT_THAT(judged.from({{"0", "20"}, 13}, "90", 7),
              ElementsAre(stretch("0", "20", 13, 15), stretch("20", "90", std::nullopt, std::nullopt)));
}

// What was on its way before the interval was split off was never judged.
TEST(Judged, AFrameBeforeItKeepsItsOwnPlace) {
  Judged judged;
  judged.up_to({"20", "40"}, 35);
  EXPECT_THAT(judged.from({{"", "20"}, std::nullopt}, "40", 7),
              ElementsAre(stretch("", "20", std::nullopt, std::nullopt), stretch("20", "40", std::nullopt, 35)));
}

TEST(Judged, FramesBetweenAreNotLost) {
  Judged judged;
  judged.up_to({"40", "60"}, 55);
  EXPECT_THAT(judged.from({{"", "20"}, 3}, "90", 7),
              ElementsAre(stretch("", "20", 3, std::nullopt), stretch("20", "40", std::nullopt, std::nullopt),
                          stretch("40", "60", std::nullopt, 55), stretch("60", "90", std::nullopt, std::nullopt)));
}

TEST(Judged, AFrameThatWasReadOnFromIsJudgedWhole) {
  Judged judged;
  judged.up_to({"0", "20"}, 15);
  judged.up_to({"20", "40"}, 22);
  EXPECT_TRUE(judged.covers({"0", "20"}, 19));
  EXPECT_THAT(judged.from({{"0", "20"}, 13}, "40", 7),
              ElementsAre(stretch("0", "20", 13, kWhole), stretch("20", "40", std::nullopt, 22)));
}

TEST(Judged, WhatIsFinishedIsNotNamedAgain) {
  Judged judged;
  judged.up_to({"0", "20"}, 15);
  judged.up_to({"20", "40"}, 22);
  EXPECT_THAT(judged.from({{"20", ""}, std::nullopt}, "40", 7), ElementsAre(stretch("20", "40", std::nullopt, 22)));
  EXPECT_THAT(judged.from({{"20", "40"}, 21}, "40", 7), ElementsAre(stretch("20", "40", 21, 22)));
  EXPECT_TRUE(judged.from({{"40", ""}, std::nullopt}, "40", 7).empty());
}

}  // namespace
}  // namespace spillway::relay
