#include "config/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "config/every_key_sample.h"
#include "config/redact.h"
#include "config/reload.h"
#include "config/testing.h"

namespace spillway::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Print, ShowsEachValueWithItsOriginAndLoadsToTheSame) {
  const auto sources =
      fake_sources({{"SPILLWAY_LOG_LEVEL", "debug"}, {"Q", "a\"b\\c${x}"}}, {{"/run/secrets/spillway", "t"}});
  auto first = load_text(std::string(kEveryKey) + "\n", "a.yaml", sources);
  ASSERT_TRUE(first);
  first->config.triage.rules[0].header = {{"/a b", "x, y"}, {"tenant", "${t}"}};
  first->config.origins["triage.rules[0].when.header"] = {};
  first->config.kafka.properties.push_back({"client.id", "a\"b\\c: ${x} #\n", {}});
  const std::string text = print(first->config);
  EXPECT_THAT(text, HasSubstr("# environment SPILLWAY_LOG_LEVEL"));
  EXPECT_THAT(text, HasSubstr("# a.yaml:3:10"));
  EXPECT_THAT(text, HasSubstr("# default"));
  auto second = load_text(text, "b.yaml", fake_sources());
  ASSERT_TRUE(second) << to_string(second.error().front()) << text;
  const auto plan = diff_for_reload(first->config, second->config);
  ASSERT_EQ(plan.needs_restart, std::vector<std::string>{"http.token"});
  EXPECT_TRUE(plan.changes.empty()) << plan.changes[0].key;
}

TEST(Print, NeverShowsASecret) {
  const auto loaded = load_text(
      "outbox: {store: 'postgresql://app:HUSH@h/db?sslpassword=HUSH', listen: 'postgresql://app:HUSH@h/db'}\n"
      "kafka: {bootstrap.servers: b, sasl.password: HUSH, ssl.key.password: HUSH, ssl.key.pem: HUSH, "
      "ssl.keystore.password: HUSH, "
      "sasl.oauthbearer.config: HUSH, sasl.oauthbearer.client.secret: HUSH, ssl.key.location: /k}\n"
      "http: {token: HUSH}\n"
      "signals: [{name: a, kind: http_probe, url: 'http://u:HUSH@h/x?token=HUSH', latency_ceiling: 1s}]\n",
      "a.yaml", fake_sources());
  ASSERT_TRUE(loaded) << to_string(loaded.error().front());
  const std::string text = print(loaded->config);
  EXPECT_THAT(text, Not(HasSubstr("HUSH")));
  EXPECT_THAT(text, HasSubstr("postgresql://app:***@h/db"));
  EXPECT_THAT(text, HasSubstr("ssl.key.location: /k"));
}

TEST(Redact, ErrsOnTheSideOfHiding) {
  EXPECT_EQ(redact("postgresql://app@h:5432/db"), "postgresql://app@h:5432/db");
  EXPECT_EQ(redact("http://h:9100/x"), "http://h:9100/x");
  EXPECT_EQ(redact("http://[::1]:9100/x"), "http://[::1]:9100/x");
  EXPECT_EQ(redact("postgresql://a:p@w/x@h/db"), "postgresql://a:***@h/db");
  EXPECT_EQ(redact("postgresql://a:pw/db"), "postgresql://a:***/db");
  EXPECT_EQ(redact("host=h PASSWORD=x user=u"), "host=h PASSWORD=*** user=u");
  EXPECT_EQ(redact("postgresql://h1:1,h2:2/db"), "postgresql://h1:1,h2:2/db");
}

TEST(Reference, TheDocumentIsUpToDate) {
  std::ifstream file(SPILLWAY_SOURCE_DIR "/docs/configuration.md");
  std::ostringstream content;
  content << file.rdbuf();
  EXPECT_EQ(content.str(), reference(ReferenceFormat::kMarkdown))
      << "run: build/spillway config reference --markdown > docs/configuration.md";
}

TEST(Reference, NamesTheVariableOfAKey) {
  EXPECT_THAT(reference(ReferenceFormat::kText), HasSubstr("environment: SPILLWAY_OUTBOX_CLEANUP_KEEP"));
}

}  // namespace
}  // namespace spillway::config
