#include "console/settled_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "console/settled_samples.h"

namespace spillway::console {
namespace {

using Json = nlohmann::json;
using SettledJson = SettledOutbox;

TEST_F(SettledJson, ListsWithTheNamesOfTheContract) {
  const Json list = Json::parse(list_json(open()));
  ASSERT_EQ(list.size(), 3u);
  for (const char* name : {"id", "key", "topic", "type", "reason", "rule", "since", "bytes"}) {
    EXPECT_TRUE(list[0].contains(name)) << name;
  }
  EXPECT_EQ(list[0]["id"], ids[0]);
  EXPECT_EQ(list[2]["reason"], "too large");
  EXPECT_EQ(list_json({}), "[]\n");
}

TEST_F(SettledJson, ShowsThePayloadOnlyWhereAskedTo) {
  const auto row = people->settled_row(*base::parse_uuid(ids[0]));
  ASSERT_TRUE(row) << row.error().message;
  const Json hidden = Json::parse(event_json(open()[0], *row, false));
  EXPECT_FALSE(hidden.contains("payload"));
  EXPECT_EQ(hidden["payload_bytes"], 7);
  EXPECT_EQ(Json::parse(event_json(open()[0], *row, true))["payload"], "{\"i\":0}");
}

TEST_F(SettledJson, WritesBytesInBase64) {
  model::Page page;
  page.rows.emplace_back().payload = std::string_view("\xff\x00\x10\x80", 4);
  EXPECT_EQ(Json::parse(event_json(open()[0], page, true))["payload_base64"], "/wAQgA==");
}

TEST_F(SettledJson, SaysWhereTheRowIsGone) {
  EXPECT_EQ(Json::parse(event_json(open()[0], {}, true))["row_exists"], false);
}

}  // namespace
}  // namespace spillway::console
