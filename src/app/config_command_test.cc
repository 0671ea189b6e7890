#include "app/config_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/testing.h"

namespace spillway::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Output {
  int status;
  std::string out;
  std::string err;
};

template <typename Command>
Output run(Command command, const std::string& text, bool json = false) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = command({.path = "a.yaml", .json = json}, config::fake_sources({}, {{"a.yaml", text}}), out, err);
  return {status, out.str(), err.str()};
}

TEST(ConfigCheck, EndsWithZeroAndSaysWhatItChecked) {
  const auto output = run(config_check, config::kComplete + "http: {show_payloads: true}\n");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.out, "a.yaml is valid\n");
  EXPECT_THAT(output.err, StartsWith("warning: a.yaml:3:23: http.show_payloads"));
}

TEST(ConfigCheck, ListsEveryFaultOnStderrAndEndsWithTwo) {
  const auto output = run(config_check, config::kComplete + "zzz: 1\nlog: {level: wran}\n");
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("a.yaml:3:1: zzz is not a key"));
  EXPECT_THAT(output.err, HasSubstr("a.yaml:4:14: log.level"));
  EXPECT_THAT(output.err, HasSubstr("2 faults in the configuration\n"));
}

TEST(ConfigCheck, ListsWhatOthersRefuseBesideWhatIsMissing) {
  const auto output = run(config_check,
                          "outbox: {store: 'sqlite:x', poll: {idle: 5}}\n"
                          "kafka: {bootstrp: 'b:1', lingr.ms: 5}\n"
                          "triage: {rules: [{name: a, when: {sql: ''}, verdict: publish}]}\n");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("outbox.poll.idle"));
  EXPECT_THAT(output.err, HasSubstr("kafka.bootstrap.servers is missing"));
  EXPECT_THAT(output.err, HasSubstr("a.yaml:2:19: kafka.bootstrp is refused"));
  EXPECT_THAT(output.err, HasSubstr("did you mean linger.ms?"));
  EXPECT_THAT(output.err, HasSubstr("triage.rules[0]"));
}

TEST(ConfigCheck, GivesFaultsAsJson) {
  const auto output = run(config_check, config::kComplete + "log: {levl: info}\n", true);
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, HasSubstr("\"valid\": false"));
  EXPECT_THAT(output.out, HasSubstr("\"kind\": \"unknown_key\""));
  EXPECT_THAT(output.out, HasSubstr("\"line\": 3"));
  EXPECT_THAT(output.out, HasSubstr("\"nearest\": \"log.level\""));
}

TEST(ConfigCheck, SaysWhereAFileOfCertificatesCannotBeUsed) {
  const auto output = run(config_check, config::kComplete +
                                            "signals:\n  - {name: a, kind: http_probe, url: 'https://h', "
                                            "latency_ceiling: 1s, ca: /nowhere/ca.pem}\n");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, StartsWith("a.yaml:4:76: signals[0].ca cannot be used: /nowhere/ca.pem: No such file or "
                                     "directory; expected a file of certificates in PEM form; "));
}

TEST(ConfigPrint, HidesSecrets) {
  const auto output = run(config_print, config::kComplete + "http: {token: HUSH}\n");
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.out, HasSubstr("token: \"***\""));
  EXPECT_THAT(output.out, Not(HasSubstr("HUSH")));
}

TEST(ConfigPrint, PrintsNothingOfAFaultyConfiguration) {
  const auto output = run(config_print, "outbox: {}\n");
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("outbox.store is missing"));
}

TEST(ConfigReference, ComesAsTextOrMarkdown) {
  std::ostringstream text;
  std::ostringstream markdown;
  EXPECT_EQ(config_reference({}, text), 0);
  EXPECT_EQ(config_reference({.markdown = true}, markdown), 0);
  EXPECT_THAT(text.str(), StartsWith("outbox.store\n"));
  EXPECT_THAT(markdown.str(), StartsWith("# Configuration\n"));
}

}  // namespace
}  // namespace spillway::app
