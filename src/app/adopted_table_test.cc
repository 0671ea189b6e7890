#include "app/adopted_table.h"

#include <gtest/gtest.h>

namespace spillway::app {
namespace {

config::Config with(config::Preset preset, std::map<std::string, std::string> columns = {}) {
  config::Config config;
  config.outbox.table = "public.events";
  config.outbox.preset = preset;
  config.outbox.columns = std::move(columns);
  return config;
}

std::string refusal(const config::Config& config) {
  const auto layout = table_layout(config);
  return layout ? "accepted" : layout.error().message;
}

TEST(AdoptedTable, ItsOwnTableIsNotAdopted) {
  const auto layout = table_layout(with(config::Preset::kNative));
  ASSERT_TRUE(layout);
  EXPECT_FALSE(layout->adopted);
  EXPECT_FALSE(layout->marks_rows());
  EXPECT_EQ(topic_template(with(config::Preset::kNative)), "outbox.event.{aggregatetype}");
}

TEST(AdoptedTable, SingleNamesLieOnTopOfThePreset) {
  const auto layout = table_layout(with(config::Preset::kDebezium, {{"order", "n"}, {"payload", "body"}}));
  ASSERT_TRUE(layout);
  EXPECT_TRUE(layout->adopted);
  EXPECT_TRUE(layout->marks_rows());
  EXPECT_EQ(layout->seq, "n");
  EXPECT_EQ(layout->payload, "body");
  EXPECT_EQ(layout->aggregate_id, "aggregateid");
  EXPECT_EQ(layout->headers, "");
}

TEST(AdoptedTable, AColumnForSnapshotsReplacesTheStatus) {
  const auto layout = table_layout(with(config::Preset::kTomorrowOne, {{"tx", "xid"}}));
  ASSERT_TRUE(layout);
  EXPECT_FALSE(layout->marks_rows());
  EXPECT_EQ(layout->status, "");
  EXPECT_NE(refusal(with(config::Preset::kDebezium, {{"tx", "xid"}, {"status", "s"}})).find("leave status out"),
            std::string::npos);
}

TEST(AdoptedTable, PendingMayBeSeveralValues) {
  const auto layout = table_layout(
      with(config::Preset::kDebezium, {{"status", "s"}, {"status_pending", "NEW, RETRY"}, {"status_done", "SENT"}}));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->pending_sql(), "o.\"s\" in ('NEW', 'RETRY')");
}

TEST(AdoptedTable, AColumnWithTheTopicIsTheTopicUnlessOneIsSet) {
  EXPECT_EQ(topic_template(with(config::Preset::kGoharvest)), "{aggregatetype}");
  config::Config config = with(config::Preset::kDebezium, {{"topic", "t"}});
  EXPECT_EQ(topic_template(config), "{aggregatetype}");
  EXPECT_EQ(table_layout(config)->aggregate_type, "t");
  config.route.topic = "all";
  config.origins["route.topic"].kind = config::Origin::Kind::kFile;
  EXPECT_EQ(topic_template(config), "all");
}

TEST(AdoptedTable, WhatDoesNotMakeALayoutIsRefusedByName) {
  EXPECT_NE(refusal(with(config::Preset::kGoOutbox)).find("outbox.preset is go-outbox"), std::string::npos);
  EXPECT_NE(refusal(with(config::Preset::kOpenOutbox)).find("set route.topic"), std::string::npos);
  EXPECT_NE(refusal(with(config::Preset::kDebezium, {{"topic", "a"}, {"aggregatetype", "b"}})).find("leave one"),
            std::string::npos);
  EXPECT_NE(refusal(with(config::Preset::kDebezium, {{"status_done", "x"}})).find("outbox.columns.status"),
            std::string::npos);
}

}  // namespace
}  // namespace spillway::app
