#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/every_key_sample.h"
#include "config/key_table.h"
#include "config/testing.h"

namespace spillway::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Loaded must_load(const std::string& text, const Sources& sources = fake_sources()) {
  auto result = load_text(text, "a.yaml", sources);
  if (result) return *result;
  for (const Fault& fault : result.error()) ADD_FAILURE() << to_string(fault);
  return {};
}

TEST(Load, TheDocumentedSampleHoldsTheDefaults) {
  const auto loaded = must_load(kEveryKey, fake_sources({}, {{"/run/secrets/spillway", "tok\n"}}));
  Config sample = loaded.config;
  Config defaults;
  int compared = 0;
  for (const KeySpec& spec : key_table()) {
    if (spec.name.find("[]") != spec.name.npos || spec.name == "outbox.store" || spec.name == "http.token") continue;
    const Field field = spec.field({.config = &sample});
    EXPECT_TRUE(spec.name == "kafka" || sample.origins.contains(std::string(spec.name))) << spec.name;
    if (!std::holds_alternative<Scalar>(field)) continue;
    EXPECT_EQ(format(std::get<Scalar>(field), spec), format(std::get<Scalar>(spec.field({.config = &defaults})), spec))
        << spec.name;
    ++compared;
  }
  EXPECT_EQ(compared, 34);
  EXPECT_EQ(sample.outbox.store, "postgresql://app@127.0.0.1:5432/app");
  EXPECT_EQ(sample.http.token, "tok");
  EXPECT_EQ(*sample.kafka.find("bootstrap.servers"), "127.0.0.1:9092");
}

TEST(Load, TheDocumentedSampleHoldsItsSignalsAndRules) {
  const Config config = must_load(kEveryKey, fake_sources({}, {{"/run/secrets/spillway", "tok\n"}})).config;
  ASSERT_EQ(config.signals.size(), 5U);
  const SignalConfig& bank = config.signals[0];
  EXPECT_THAT(bank.urls, ElementsAre("http://127.0.0.1:9100/metrics"));
  EXPECT_EQ(bank.latency_ceiling, std::chrono::milliseconds(400));
  EXPECT_EQ(bank.error_ceiling, Ratio{0.02});
  EXPECT_EQ(bank.dead_time, std::chrono::seconds(1));
  EXPECT_EQ(config.signals[1].group, "payments");
  EXPECT_EQ(config.signals[4].kind, SignalKind::kRelay);
  ASSERT_EQ(config.triage.rules.size(), 3U);
  EXPECT_EQ(config.triage.rules[0].sql, "select 1 from ledger where transaction_id = $aggregateid");
  EXPECT_EQ(config.triage.rules[1].older_than, std::chrono::minutes(30));
  EXPECT_TRUE(config.triage.rules[2].newer_for_key);
  EXPECT_EQ(config.triage.rules[2].then, Verdict::kDiscard);
}

TEST(Load, ASignalMayTrustCertificatesOfItsOwn) {
  const Config config = must_load(kComplete +
                                  "signals: [{name: a, kind: http_probe, url: 'https://h', ca: /etc/ca.pem, "
                                  "latency_ceiling: 1s}]\n")
                            .config;
  EXPECT_EQ(config.signals[0].ca, "/etc/ca.pem");
}

TEST(Load, ARuleMayAskForItsKeyAndItsHeaders) {
  const Config config =
      must_load(kComplete +
                "triage: {rules: [{name: x, when: {key: 'a-*', header: {tenant: acme, /a/b: 'true'}}, "
                "then: reconcile}]}\n")
          .config;
  EXPECT_EQ(config.triage.rules[0].key, "a-*");
  EXPECT_EQ(config.triage.rules[0].header, (std::map<std::string, std::string>{{"tenant", "acme"}, {"/a/b", "true"}}));
}

TEST(Load, PartsThatAreNotThereYetAreNamedWithTheirLine) {
  const auto loaded =
      must_load(kComplete + "delivery: exactly_once\nhttp:\n  show_payloads: true\nlog: {level: info}\n");
  ASSERT_EQ(loaded.warnings.size(), 2U);
  EXPECT_EQ(to_string(loaded.warnings[0]),
            "a.yaml:3:11: delivery exactly_once is accepted, but has no effect in this release");
  EXPECT_EQ(to_string(loaded.warnings[1]),
            "a.yaml:5:18: http.show_payloads is accepted, but has no effect in this release");
}

TEST(Load, ASqliteStoreHasItsOwnDefaultTable) {
  EXPECT_EQ(must_load(kComplete).config.outbox.table, "spillway_outbox");
  EXPECT_EQ(must_load(kComplete).config.outbox.sqlite_path(), "x.db");
  EXPECT_EQ(must_load("outbox: {store: 'sqlite:x', table: t}\nkafka: {bootstrap.servers: b}\n").config.outbox.table,
            "t");
}

TEST(Load, WordsThatYamlReadersInterpretStayText) {
  const Config config = must_load(
                            "outbox: {store: 'sqlite:x', name: no}\nkafka: {bootstrap.servers: b, client.id: 0777, "
                            "client.rack: 1:30, x: yes}\n")
                            .config;
  EXPECT_EQ(config.outbox.name, "no");
  EXPECT_EQ(*config.kafka.find("client.id"), "0777");
  EXPECT_EQ(*config.kafka.find("client.rack"), "1:30");
  EXPECT_EQ(*config.kafka.find("x"), "yes");
}

TEST(Load, WordsForNothing) {
  const Config config =
      must_load(
          "outbox: {store: 'sqlite:x', cleanup: {keep: never}}\nkafka: {bootstrap.servers: b}\n"
          "http: {listen: none}\nsignals: [{name: a, kind: relay, latency_ceiling: 1s, dead_time: auto}]\n")
          .config;
  EXPECT_FALSE(config.outbox.cleanup.keep);
  EXPECT_FALSE(config.http.listen);
  EXPECT_FALSE(config.signals[0].dead_time);
}

TEST(Load, AnchorsAndMergesFillInWhatIsNotGiven) {
  const Config config = must_load(kComplete +
                                  "signals:\n  - &base {name: a, kind: push, latency_ceiling: 1s, tolerance: 3%}\n"
                                  "  - {<<: *base, name: b, latency_ceiling: 2s}\n")
                            .config;
  ASSERT_EQ(config.signals.size(), 2U);
  EXPECT_EQ(config.signals[1].name, "b");
  EXPECT_EQ(config.signals[1].latency_ceiling, std::chrono::seconds(2));
  EXPECT_EQ(config.signals[1].tolerance, Ratio{0.03});
}

TEST(Load, ASampleNeverTakesLongerThanItsPeriodByDefault) {
  const Config config =
      must_load(kComplete +
                "signals: [{name: a, kind: http_probe, url: 'http://h', latency_ceiling: 1s, every: 200ms}]\n")
          .config;
  EXPECT_EQ(config.signals[0].timeout, std::chrono::milliseconds(200));
}

TEST(Environment, WinsOverTheFileAndNamesItself) {
  const Config config = must_load(kComplete, fake_sources({{"SPILLWAY_OUTBOX_STORE", "postgresql://u@h/db"},
                                                           {"SPILLWAY_OUTBOX_CLEANUP_KEEP", "7d"},
                                                           {"SPILLWAY_KAFKA_BOOTSTRAP_SERVERS", "k:1"},
                                                           {"SPILLWAY_KAFKA_SASL_PASSWORD", "pw"}}))
                            .config;
  EXPECT_EQ(config.outbox.store, "postgresql://u@h/db");
  EXPECT_EQ(config.outbox.cleanup.keep, std::chrono::hours(168));
  EXPECT_EQ(*config.kafka.find("bootstrap.servers"), "k:1");
  EXPECT_EQ(*config.kafka.find("sasl.password"), "pw");
  EXPECT_EQ(config.kafka.properties.size(), 2U);
  EXPECT_EQ(to_string(config.origin_of("outbox.store")), "environment SPILLWAY_OUTBOX_STORE");
  EXPECT_EQ(to_string(config.origin_of("kafka.sasl.password")), "environment SPILLWAY_KAFKA_SASL_PASSWORD");
  EXPECT_EQ(to_string(config.origin_of("outbox.name")), "default");
}

TEST(Environment, GivesListsAsYaml) {
  const Config config = must_load(kComplete + "signals: [{name: a, kind: relay, latency_ceiling: 1s}]\n",
                                  fake_sources({{"SPILLWAY_SIGNALS", "[{name: b, kind: push, latency_ceiling: 2s}]"},
                                                {"SPILLWAY_OUTBOX_COLUMNS", "{order: n}"}}))
                            .config;
  ASSERT_EQ(config.signals.size(), 1U);
  EXPECT_EQ(config.signals[0].name, "b");
  EXPECT_EQ(config.outbox.columns.at("order"), "n");
}

TEST(Environment, ASlipIsNamedAndWhatKubernetesSetsIsNot) {
  const auto loaded = must_load(kComplete, fake_sources({{"SPILLWAY_OUTBOX_STROE", "x"},
                                                         {"SPILLWAY_HTTP_SERVICE_HOST", "10.0.0.1"},
                                                         {"SPILLWAY_KAFKA_PORT_9092_TCP_ADDR", "10.0.0.1"}}));
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(to_string(loaded.warnings[0]),
            "environment SPILLWAY_OUTBOX_STROE: SPILLWAY_OUTBOX_STROE names no key and is ignored; did you mean "
            "SPILLWAY_OUTBOX_STORE?");
  EXPECT_EQ(loaded.config.kafka.properties.size(), 1U);
}

TEST(Environment, WhatScriptsAndTestsReadDisturbsNoDaemon) {
  const auto loaded = must_load(kComplete, fake_sources({{"SPILLWAY_OFFLINE", "1"},
                                                         {"SPILLWAY_PG_BIN", "/usr/lib/postgresql/15/bin"},
                                                         {"SPILLWAY_KEEP", "1"},
                                                         {"SPILLWAY_RECOVERY_TRACE", "/tmp/trace"},
                                                         {"SPILLWAY_TORTURE_SEED", "7"},
                                                         {"SPILLWAY_STRESS_SECONDS", "60"}}));
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(loaded.config.kafka.properties.size(), 1U);
}

TEST(References, AreReplacedOnceAndMayBringAnyDollar) {
  const Config config = must_load(
                            "outbox: {store: 'postgresql://u:${env:PW}@h/db', name: '${file:n}'}\n"
                            "kafka: {bootstrap.servers: b, client.id: 'a$${env:PW}$b'}\nhttp: {token: '${env:T}'}\n",
                            fake_sources({{"PW", "p$w"}, {"T", "${env:PW}"}}, {{"n", "orders\r\n"}}))
                            .config;
  EXPECT_EQ(config.outbox.store, "postgresql://u:p$w@h/db");
  EXPECT_EQ(config.outbox.name, "orders");
  EXPECT_EQ(*config.kafka.find("client.id"), "a${env:PW}$b");
  EXPECT_EQ(config.http.token, "${env:PW}");
}

TEST(Load, ATokenOnAnOpenNetworkIsWarnedAbout) {
  const auto loaded = must_load(kComplete + "http: {listen: '0.0.0.0:80', token: t}\n");
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(to_string(loaded.warnings[0]), HasSubstr("a.yaml:3:16: http.listen sends the token unencrypted"));
  EXPECT_TRUE(must_load(kComplete + "http: {listen: '0.0.0.0:80', insecure: true}\n").warnings.empty());
}

}  // namespace
}  // namespace spillway::config
