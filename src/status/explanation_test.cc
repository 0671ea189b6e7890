#include "status/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "status/status_samples.h"

namespace spillway::status {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMorning = 1'700'000'000'000'000;

Explanation two_changes() {
  governor::DecisionLog log;
  governor::Decision d{.total_rate = 1500,
                       .backlog_budget = 300,
                       .state = governor::State::kTracking,
                       .cause = {governor::CauseKind::kGrowing, "bank", 0, 0, ""},
                       .live_rate = 1200};
  log.observe(kMorning, d);
  d.total_rate = 1400;
  d.backlog_budget = 200;
  d.state = governor::State::kBackingOff;
  d.cause = {governor::CauseKind::kLatency, "bank", 0.412, 0.4, ""};
  log.observe(kMorning + 250'000, d);
  d.total_rate = 1380;
  d.backlog_budget = 180;
  log.observe(kMorning + 500'000, d);
  return explain(subject(), governor::LawKind::kAdaptive, log);
}

TEST(Explanation, NamesSignalValueLimitAndAction) {
  const auto json = nlohmann::json::parse(to_json(two_changes()));
  EXPECT_EQ(json["law"], "adaptive");
  ASSERT_EQ(json["changes"].size(), 2U);
  const auto& cut = json["changes"][1];
  EXPECT_EQ(cut["at"], "2023-11-14T22:13:20.250000Z");
  EXPECT_EQ(cut["action"], "lower");
  EXPECT_EQ(cut["signal"], "bank");
  EXPECT_EQ(cut["value"], 0.412);
  EXPECT_EQ(cut["limit"], 0.4);
  EXPECT_EQ(cut["unit"], "s");
  EXPECT_EQ(cut["backlog"], 200);
  EXPECT_EQ(json["latest"]["backlog"], 180);
}

TEST(Explanation, IsReadableALineAChange) {
  EXPECT_EQ(to_text(two_changes()),
            "outbox default   SQLite /var/lib/app.db   law adaptive\n"
            "2023-11-14T22:13:20.000000Z  keep    tracking      backlog 300/s: bank shows no queue at the allowed "
            "rate, trying more\n"
            "2023-11-14T22:13:20.250000Z  lower   backing_off   backlog 200/s: bank p99 412 ms >= 400 ms\n"
            "now: 2023-11-14T22:13:20.500000Z  lower   backing_off   backlog 180/s: bank p99 412 ms >= 400 ms\n");
}

TEST(Explanation, ReadsBackWhatItWrote) {
  EXPECT_EQ(explanation_from_json(to_json(two_changes())), two_changes());
  EXPECT_FALSE(explanation_from_json("{}"));
  EXPECT_FALSE(explanation_from_json("<html>"));
  EXPECT_FALSE(explanation_from_json(R"({"law": 3, "changes": 1})"));
}

TEST(Explanation, ARateWithoutALimitIsNull) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  governor::DecisionLog log;
  log.observe(
      0,
      {.total_rate = kInfinite, .backlog_budget = kInfinite, .cause = {governor::CauseKind::kNoSignals, "", 0, 0, ""}});
  const auto explanation = explain(subject(), governor::LawKind::kUnlimited, log);
  EXPECT_FALSE(explanation.latest->total);
  EXPECT_THAT(to_json(explanation), HasSubstr("\"total\":null"));
  EXPECT_EQ(explanation_from_json(to_json(explanation)), explanation);
}

TEST(Explanation, BeforeTheFirstDecisionItSaysSo) {
  EXPECT_THAT(to_text(explain(subject(), governor::LawKind::kAdaptive, {})), HasSubstr("no decision was taken yet"));
}

}  // namespace
}  // namespace spillway::status
