#include "config/load.h"

#include <gtest/gtest.h>

namespace spillway::config {
namespace {
TEST(Load, Minimal) {
  const Sources sources{
      {}, [](const std::string&) { return base::fail(base::ErrorClass::kMisconfigured, "no such file"); }};
  const auto loaded =
      load_text("outbox: {store: \"sqlite:x.db\"}\nkafka: {bootstrap.servers: 127.0.0.1:9092}\n", "a.yaml", sources);
  ASSERT_TRUE(loaded) << to_string(loaded.error().front());
  EXPECT_EQ(loaded->config.outbox.table, "spillway_outbox");
}
}  // namespace
}  // namespace spillway::config
