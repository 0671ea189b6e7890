#include "status/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "status/status_samples.h"

namespace spillway::status {
namespace {

using Json = nlohmann::json;

Status busy() {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 60;
  figures.open_settlements = 2;
  figures.behind_their_key = 31;
  figures.oldest_open_age_s = 5;
  figures.discarded = 3;
  figures.reconciled = 4;
  figures.seq_headroom = 0.5;
  figures.seq_cache = 100;
  figures.pause = {.all = false, .backlog = true, .reason = "night", .who = "ann", .since_unix_micros = 17};
  figures.limit = {.max_total = {},
                   .reason = "watching",
                   .who = "bob",
                   .since_unix_micros = 18,
                   .remaining = std::chrono::milliseconds(90'500)};
  LiveFigures live = running();
  live.sent = LaneTotals{.live = 7, .promoted = 2, .backlog = 30};
  live.governor = braking();
  live.governor.held_at = 900;
  live.rates.published = 1500;
  live.net = NetRange{400, 600};
  live.in_flight = 20;
  live.in_flight_bytes = 5000;
  live.stuck = {{.topic = "t", .partition = 1, .seconds = 11, .waiting = 5, .reason = "r"}};
  live.governor.since_unix_micros = 1'700'000'000'000'000;
  live.signals = {{.name = "bank",
                   .p99_ms = 412,
                   .error_rate = 0.01,
                   .age_s = 1,
                   .ceiling_ms = 400,
                   .lag_ms = 30,
                   .state = "over",
                   .trouble = "2 of 5 targets answer",
                   .climb = 1.4}};
  return assemble(subject(), said(figures), live);
}

TEST(StatusJson, HasTheNamesOfTheContract) {
  const Json json = Json::parse(to_json(busy()));
  for (const char* path : {"/backlog/events",
                           "/backlog/oldest_age_s",
                           "/backlog/bytes",
                           "/live/events",
                           "/live/oldest_age_s",
                           "/rates/arrival",
                           "/rates/live",
                           "/rates/promoted",
                           "/rates/backlog",
                           "/rates/published",
                           "/eta/seconds",
                           "/eta/low",
                           "/eta/high",
                           "/eta/reason",
                           "/live/behind_their_key",
                           "/governor/others",
                           "/governor/law",
                           "/governor/state",
                           "/governor/capacity",
                           "/governor/budget",
                           "/governor/reason",
                           "/governor/since",
                           "/governor/override",
                           "/governor/override/max",
                           "/governor/override/remaining_s",
                           "/governor/override/reason",
                           "/governor/override/who",
                           "/governor/live_demand",
                           "/governor/live_cap",
                           "/relay/sent/backlog",
                           "/signals/0/name",
                           "/signals/0/p99_ms",
                           "/signals/0/error_rate",
                           "/signals/0/age_s",
                           "/signals/0/ceiling_ms",
                           "/signals/0/state",
                           "/triage/published",
                           "/triage/discarded",
                           "/triage/reconciled",
                           "/triage/open",
                           "/paused/live",
                           "/paused/backlog",
                           "/paused/reason",
                           "/lease/holder",
                           "/lease/epoch",
                           "/lease/role",
                           "/alerts/0"}) {
    EXPECT_TRUE(json.contains(Json::json_pointer(path))) << path;
  }
  EXPECT_EQ(json["backlog"]["events"], 1200);
  EXPECT_DOUBLE_EQ(json["eta"]["seconds"].get<double>(), 2.4);
  EXPECT_EQ(json["governor"]["since"], "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(json["governor"]["override"]["kind"], "hold");
  EXPECT_EQ(json["governor"]["override"]["max"], 900) << "what the relay fixed the hold at";
  EXPECT_EQ(json["governor"]["override"]["remaining_s"], 90.5);
  EXPECT_EQ(json["lease"]["role"], "owner");
  EXPECT_EQ(json["paused"]["live"], false);
}

TEST(StatusJson, WritesUnknownAsNull) {
  const Json json = Json::parse(to_json(assemble(subject(), {.error = "gone"}, std::nullopt)));
  EXPECT_TRUE(json["backlog"]["events"].is_null());
  EXPECT_TRUE(json["eta"]["seconds"].is_null());
  EXPECT_TRUE(json["rates"]["published"].is_null());
  EXPECT_TRUE(json["lease"]["role"].is_null());
  EXPECT_TRUE(json["triage"].is_null());
}

TEST(StatusJson, ReadsBackWhatItWrote) {
  for (const Status& status : {busy(), assemble(subject(), said(working_figures()), std::nullopt),
                               assemble(subject(), {.error = "gone"}, running())}) {
    const std::string text = to_json(status);
    const auto again = from_json(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_json(*again), text);
  }
}

TEST(StatusJson, WhatIsReadBackAssemblesToTheSame) {
  const Status status = busy();
  const auto again = from_json(to_json(status));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(assemble(subject(), status.store, again->relay)), to_json(status));
}

TEST(StatusJson, RefusesWhatIsNoStatus) {
  EXPECT_FALSE(from_json("<html>"));
  EXPECT_FALSE(from_json("{}"));
  EXPECT_FALSE(from_json("[1]"));
  EXPECT_FALSE(from_json(R"({"backlog": 3, "rates": {}})"));
}

TEST(StatusJson, SurvivesTextThatIsNotUtf8) {
  Status status = busy();
  status.relay->sink_error = "\xff\xfe";
  EXPECT_TRUE(Json::accept(to_json(status)));
}

}  // namespace
}  // namespace spillway::status
