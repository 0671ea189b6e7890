// Every class of fault with its exact place and text: these lines are what users read.
#include "config/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.h"

namespace spillway::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines(const LoadResult& result) {
  std::vector<std::string> all;
  if (result) return all;
  for (const Fault& fault : result.error()) all.push_back(to_string(fault));
  return all;
}

std::vector<std::string> faults(const std::string& text) { return lines(load_text(text, "a.yaml", fake_sources())); }

TEST(Fault, AnEmptyFile) {
  EXPECT_THAT(faults(""), ElementsAre("a.yaml: is empty; `spillway config reference` lists what belongs in it"));
}

TEST(Fault, AFileOfComments) {
  EXPECT_THAT(faults("# only\n"),
              ElementsAre("a.yaml: is empty; `spillway config reference` lists what belongs in it"));
}

TEST(Fault, ATabInTheIndentation) {
  EXPECT_THAT(faults("outbox:\n"
                     "	store: x\n"),
              ElementsAre("a.yaml:2:1: is indented by a tab; YAML is indented by spaces alone"));
}

TEST(Fault, ASecondDocument) {
  EXPECT_THAT(
      faults("a: b\n"
             "---\n"
             "c: d\n"),
      ElementsAre("a.yaml:2:1: begins a second document; remove the line --- and what belongs to the other document"));
}

TEST(Fault, AListInsteadOfKeys) {
  EXPECT_THAT(
      faults("- a\n"),
      ElementsAre("a.yaml:1:1: is not a configuration; expected keys such as outbox: and kafka: at the left margin"));
}

TEST(Fault, BrokenYaml) {
  EXPECT_THAT(faults("a: [1\n"
                     "b: 2\n"),
              ElementsAre("a.yaml:2:2: is not YAML (end of sequence flow not found); check the indentation, the colon "
                          "after each key, and put text with special characters in quotes"));
}

TEST(Fault, AQuoteThatIsNeverClosed) {
  EXPECT_THAT(faults("outbox:\n"
                     "  store: \"sqlite:x\n"
                     "kafka: {}\n"),
              ElementsAre("a.yaml: kafka.bootstrap.servers is missing; expected HOST:PORT of one or more brokers",
                          "a.yaml:2:10: outbox.store has a quote that is never closed; add the closing \""));
}

TEST(Fault, AnAliasInsideItsAnchor) {
  EXPECT_THAT(
      faults(kComplete + "signals: &a [*a]\n"),
      ElementsAre(
          "a.yaml:3:10: unfolds to more than any configuration needs; look for an alias (*name) inside its own anchor "
          "(&name)",
          "a.yaml:3:10: signals[0] is not an entry with keys: a list; expected keys of its own: name, kind, url, urls, "
          "ca, every, timeout, dead_time, histogram, errors, group, ceiling, latency_ceiling, error_ceiling, "
          "tolerance"));
}

TEST(Fault, TextThatIsNotUtf8) {
  EXPECT_THAT(faults("a: \xff\n"), ElementsAre("a.yaml: is not UTF-8 text; save it as UTF-8"));
}

TEST(Fault, MissingKeys) {
  EXPECT_THAT(
      faults("log: {level: info}\n"),
      ElementsAre("a.yaml: outbox.store is missing; expected postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH",
                  "a.yaml: kafka.bootstrap.servers is missing; expected HOST:PORT of one or more brokers"));
}

TEST(Fault, UnknownKeysAndTheirNearest) {
  EXPECT_THAT(
      faults(kComplete + "outboks: {}\n"
                         "store: x\n"
                         "log.level: info\n"
                         "zzz: 1\n"
                         "http: {tokn: hush, port: 1}\n"),
      ElementsAre("a.yaml:3:1: outboks is not a key; did you mean outbox?",
                  "a.yaml:4:1: store is not a key; did you mean outbox.store?",
                  "a.yaml:5:1: log.level is not a key; nest it: a section on its own line, level below it",
                  "a.yaml:6:1: zzz is not a key; expected one of outbox, kafka, route, delivery, lanes, governor, "
                  "signals, triage, limits, shutdown, log, http",
                  "a.yaml:7:8: http.tokn is not a key; did you mean http.token?",
                  "a.yaml:7:20: http.port is not a key; expected one of listen, token, insecure, show_payloads"));
}

TEST(Fault, ADuplicateKey) {
  EXPECT_THAT(faults(kComplete + "log: {level: info}\n"
                                 "log: {level: debug}\n"
                                 "http: {insecure: false, insecure: false}\n"),
              ElementsAre("a.yaml:4:1: log is already given at a.yaml:3:1; keep one of the two",
                          "a.yaml:5:25: http.insecure is already given at a.yaml:5:8; keep one of the two"));
}

TEST(Fault, MissingAndWrongUnits) {
  EXPECT_THAT(faults(kComplete + "limits: {bytes_in_flight: 1000}\n"
                                 "shutdown: {limit: 5}\n"
                                 "lanes: {live_age: 5 S}\n"
                                 "route: {unknown_topic_after: 5fortnights}\n"),
              ElementsAre("a.yaml:3:27: limits.bytes_in_flight has no unit: 1000; expected a number with B, KiB, MiB "
                          "or GiB, such as 16MiB",
                          "a.yaml:4:19: shutdown.limit has no unit: 5; expected a number with us, ms, s, m, h or d, "
                          "such as 250ms, 5s or 24h",
                          "a.yaml:5:19: lanes.live_age has an unknown unit: 5 S; expected a number with us, ms, s, m, "
                          "h or d, such as 250ms, 5s or 24h; write 5s",
                          "a.yaml:6:30: route.unknown_topic_after has an unknown unit: 5fortnights; expected a number "
                          "with us, ms, s, m, h or d, such as 250ms, 5s or 24h"));
}

TEST(Fault, WordsAndNumbersThatYamlReadersInterpret) {
  EXPECT_THAT(
      faults(kComplete + "http: {insecure: yes, show_payloads: \"off\"}\n"
                         "limits: {ahead: 0777, events_in_flight: 1_000}\n"
                         "governor: {tick: 1:30}\n"
                         "route: {cloudevents: ~, key: }\n"),
      ElementsAre(
          "a.yaml:3:18: http.insecure is neither true nor false: yes; expected true or false; write true",
          "a.yaml:3:38: http.show_payloads is neither true nor false: off; expected true or false; write false",
          "a.yaml:4:17: limits.ahead is not a whole number: 0777; expected digits only, such as 20000; write 777, "
          "without the leading zero: some readers take it for an octal number",
          "a.yaml:4:41: limits.events_in_flight is not a whole number: 1_000; expected digits only, such as 20000; "
          "write 1000",
          "a.yaml:5:18: governor.tick is not a duration: 1:30; expected a number with us, ms, s, m, h or d, such as "
          "250ms, 5s or 24h; for minutes and seconds write 90s",
          "a.yaml:6:9: route.cloudevents has no value; expected true or false; leave the key out for its default",
          "a.yaml:6:25: route.key has no value; expected template of {aggregatetype}, {aggregateid}, {type}, {id}; "
          "leave the key out for its default"));
}

TEST(Fault, WrongTypes) {
  EXPECT_THAT(
      faults(kComplete + "http: {listen: 8787}\n"
                         "log: info\n"
                         "governor: {min: fast, law: [aimd]}\n"
                         "delivery: {}\n"
                         "signals: {}\n"),
      ElementsAre("a.yaml:3:16: http.listen is not an address to listen on: 8787; expected HOST:PORT, such as "
                  "127.0.0.1:8787 or [::1]:8787; or none",
                  "a.yaml:4:6: log is not a section; expected keys of its own: level, format",
                  "a.yaml:5:17: governor.min is not a number: fast; expected a decimal number, such as 50",
                  "a.yaml:5:28: governor.law is not a single value: a list; expected one of adaptive, aimd, gradient, "
                  "fixed, unlimited",
                  "a.yaml:6:11: delivery is not a single value: a mapping; expected one of at_least_once, exactly_once",
                  "a.yaml:7:10: signals is not a list; expected entries that begin with a dash: - {name: …}"));
}

TEST(Fault, Tags) {
  EXPECT_THAT(faults(kComplete + "route: {topic: !env T}\n"),
              ElementsAre("a.yaml:3:16: route.topic has the tag !env, which means nothing here; tags are not used; a "
                          "value from outside is ${env:NAME} or ${file:PATH}"));
}

TEST(Fault, UnknownChoices) {
  EXPECT_THAT(faults(kComplete + "log: {level: wran}\n"
                                 "lanes: {hold_live: true}\n"),
              ElementsAre("a.yaml:3:14: log.level is not one of its choices: wran; expected trace, debug, info, warn, "
                          "error; did you mean warn?",
                          "a.yaml:4:20: lanes.hold_live is not one of its choices: true; expected on_collapse, never"));
}

TEST(Fault, PresetAndColumns) {
  EXPECT_THAT(
      faults("outbox: {store: \"sqlite:x\", preset: debeziun, columns: {oder: x, id: \"\"}}\n"
             "kafka: {bootstrap.servers: b}\n"),
      ElementsAre(
          "a.yaml:1:37: outbox.preset is not one of its choices: debeziun; expected native, debezium, open-outbox, "
          "go-outbox, goharvest, tomorrow-one; did you mean debezium?",
          "a.yaml:1:57: outbox.columns.oder is not a column that Spillway knows; expected order, id, aggregatetype, "
          "aggregateid, type, payload, headers, created_at, tx, topic, key, status, status_pending, status_done; did "
          "you mean outbox.columns.order?",
          "a.yaml:1:70: outbox.columns.id is empty: \"\"; expected some text"));
}

TEST(Fault, RangesAndMinAboveMax) {
  EXPECT_THAT(
      faults(kComplete + "governor: {min: 100, max: 50, aimd: {decrease: 1}}\n"
                         "limits: {ahead: 0}\n"),
      ElementsAre(
          "a.yaml:3:17: governor.min contradicts: min 100 is above max 50; expected governor.min at most governor.max",
          "a.yaml:3:48: governor.aimd.decrease is too large: 1; expected 0.01 to 0.99",
          "a.yaml:4:17: limits.ahead is too small: 0; expected 1 to 100000000"));
}

TEST(Fault, PollsThatContradict) {
  EXPECT_THAT(
      faults("outbox: {store: \"sqlite:x\", poll: {busy: 1s}, listen: \"postgresql://h/d\"}\n"
             "kafka: {bootstrap.servers: b}\n"),
      ElementsAre(
          "a.yaml:1:42: outbox.poll.busy contradicts: busy 1s is longer than idle 50ms; expected busy at most idle",
          "a.yaml:1:55: outbox.listen has no use with a SQLite store; leave it out"));
}

TEST(Fault, Templates) {
  EXPECT_THAT(
      faults(kComplete + "route: {topic: \"a.{agregatetype}\", key: \"{id\", reconcile_topic: \"{id}\"}\n"),
      ElementsAre(
          "a.yaml:3:16: route.topic has the unknown placeholder {agregatetype}: a.{agregatetype}; expected no other "
          "placeholders than {aggregatetype}, {aggregateid}, {type} and {id}; did you mean {aggregatetype}?",
          "a.yaml:3:41: route.key has a { without its }: {id; expected no other placeholders than {aggregatetype}, "
          "{aggregateid}, {type} and {id}",
          "a.yaml:3:65: route.reconcile_topic holds a placeholder: {id}; expected the name of one topic; placeholders "
          "belong in route.topic"));
}

TEST(Fault, TopicCharacters) {
  EXPECT_THAT(
      faults(kComplete + "route: {topic: \"a b\", reconcile_topic: \"\"}\n"),
      ElementsAre(
          "a.yaml:3:16: route.topic is not a topic name: a b; expected at most 249 letters, digits, '.', '_' and '-'",
          "a.yaml:3:40: route.reconcile_topic is not a topic name: \"\"; expected at most 249 letters, digits, '.', "
          "'_' and '-'"));
}

TEST(Fault, SignalsWithoutWhatTheirKindNeeds) {
  EXPECT_THAT(
      faults(kComplete + "signals:\n"
                         "  - {name: a, kind: prometheus}\n"
                         "  - {name: b, kind: kafka_lag}\n"
                         "  - {name: c, kind: http_probe}\n"
                         "  - {name: d, kind: push}\n"
                         "  - {name: e, kind: relay}\n"
                         "  - {kind: relay, latency_ceiling: 1s}\n"
                         "  - 5\n"),
      ElementsAre(
          "a.yaml:4:5: signals[0].url is missing; expected url or urls with kind prometheus",
          "a.yaml:4:5: signals[0].histogram is missing; kind prometheus needs it",
          "a.yaml:4:5: signals[0].latency_ceiling is missing; expected latency_ceiling, error_ceiling or both",
          "a.yaml:5:5: signals[1].group is missing; kind kafka_lag needs it",
          "a.yaml:5:5: signals[1].ceiling is missing; kind kafka_lag needs it",
          "a.yaml:6:5: signals[2].url is missing; kind http_probe needs it",
          "a.yaml:6:5: signals[2].latency_ceiling is missing; kind http_probe needs it",
          "a.yaml:7:5: signals[3].latency_ceiling is missing; expected latency_ceiling, error_ceiling or both",
          "a.yaml:8:5: signals[4].latency_ceiling is missing; kind relay needs it",
          "a.yaml:9:5: signals[5].name is missing; expected a name of its own",
          "a.yaml:10:5: signals[6] is not an entry with keys: 5; expected keys of its own: name, kind, url, urls, "
          "ca, every, timeout, dead_time, histogram, errors, group, ceiling, latency_ceiling, error_ceiling, "
          "tolerance"));
}

TEST(Fault, SignalsWithWhatTheirKindDoesNotKnow) {
  EXPECT_THAT(faults(kComplete + "signals:\n"
                                 "  - {name: a, kind: push, latency_ceiling: 1s, group: g}\n"
                                 "  - {name: b, kind: kafka_lagg, group: g}\n"),
              ElementsAre("a.yaml:4:55: signals[0].group does not belong to kind push; expected name, kind, dead_time, "
                          "latency_ceiling, error_ceiling, tolerance",
                          "a.yaml:5:21: signals[1].kind is not one of its choices: kafka_lagg; expected prometheus, "
                          "kafka_lag, http_probe, push, relay; did you mean kafka_lag?"));
}

TEST(Fault, CeilingsOfNothing) {
  EXPECT_THAT(faults(kComplete + "signals:\n"
                                 "  - {name: a, kind: push, latency_ceiling: 0ms, error_ceiling: 0%}\n"
                                 "  - {name: b, kind: push, error_ceiling: 0.02}\n"),
              ElementsAre("a.yaml:4:44: signals[0].latency_ceiling is too small: 0ms; expected 1ms to 1h",
                          "a.yaml:4:64: signals[0].error_ceiling is too small: 0%; expected above 0% to 100%",
                          "a.yaml:5:42: signals[1].error_ceiling has no percent sign: 0.02; expected a percentage, "
                          "such as 2%; write 2% for that share"));
}

TEST(Fault, SignalNamesThatRepeat) {
  EXPECT_THAT(
      faults(kComplete + "signals:\n"
                         "  - {name: a, kind: push, latency_ceiling: 1s}\n"
                         "  - {name: a, kind: relay, latency_ceiling: 1s}\n"),
      ElementsAre("a.yaml:5:12: signals[1].name repeats the name a of signals[0].name; expected a name of its own"));
}

TEST(Fault, CertificatesForTargetsThatAreNotAskedByTls) {
  EXPECT_THAT(faults(kComplete + "signals:\n"
                                 "  - {name: a, kind: http_probe, url: \"http://h\", ca: x.pem, latency_ceiling: 1s}\n"
                                 "  - {name: b, kind: push, ca: x.pem, latency_ceiling: 1s}\n"),
              ElementsAre("a.yaml:4:54: signals[0].ca has no use without an https target; leave it out",
                          "a.yaml:5:31: signals[1].ca does not belong to kind push; expected name, kind, dead_time, "
                          "latency_ceiling, error_ceiling, tolerance"));
}

TEST(Fault, SignalTargets) {
  EXPECT_THAT(
      faults(kComplete + "signals:\n"
                         "  - {name: a, kind: http_probe, url: \"127.0.0.1/x\", latency_ceiling: 1s, timeout: 2s}\n"
                         "  - {name: b, kind: prometheus, url: \"http://h\", urls: [\"http://h:x\"], histogram: h, "
                         "errors: e, latency_ceiling: 1s}\n"),
      ElementsAre(
          "a.yaml:4:38: signals[0].url is not an HTTP URL: 127.0.0.1/x; expected http://HOST:PORT/PATH or https://…",
          "a.yaml:4:83: signals[0].timeout is longer than every 1s; expected timeout at most every",
          "a.yaml:5:5: signals[1].error_ceiling is missing; expected the ceiling for errors",
          "a.yaml:5:38: signals[1].url is given beside urls; expected one of the two; put it into urls",
          "a.yaml:5:57: signals[1].urls[0] has no valid host and port: http://h:***; expected http://HOST:PORT/PATH or "
          "https://…"));
}

TEST(Fault, Rules) {
  EXPECT_THAT(
      faults(kComplete + "triage:\n"
                         "  rules:\n"
                         "    - {name: x, when: {}, then: drop}\n"
                         "    - {name: x, when: {type: t, older: 1h}}\n"),
      ElementsAre(
          "a.yaml:5:7: triage.rules[0].when is missing; expected at least one of type, key, header, sql, older_than, "
          "newer_for_key",
          "a.yaml:5:33: triage.rules[0].then is not one of its choices: drop; expected publish, reconcile, discard",
          "a.yaml:6:7: triage.rules[1].then is missing; expected publish, reconcile, discard",
          "a.yaml:6:14: triage.rules[1].name repeats the name x of triage.rules[0].name; expected a name of its own",
          "a.yaml:6:33: triage.rules[1].when.older is not a key; expected one of type, key, header, sql, "
          "older_than, newer_for_key"));
  EXPECT_THAT(
      faults(kComplete + "triage:\n"
                         "  rules:\n"
                         "    - {name: replay_window, when: {header: tenant=acme}, then: discard}\n"
                         "    - {name: x, when: {header: {a: [b]}}, then: discard}\n"
                         "    - {name: y, when: {header: {}}, then: discard}\n"),
      ElementsAre(
          "a.yaml:5:14: triage.rules[0].name is replay_window, which stands for triage.replay_window; expected another "
          "name",
          "a.yaml:5:44: triage.rules[0].when.header does not name a value: tenant=acme; expected names and values such "
          "as {tenant: acme}",
          "a.yaml:6:36: triage.rules[1].when.header.a is not a single value: a list; expected the value that the "
          "header "
          "has",
          "a.yaml:7:32: triage.rules[2].when.header does not name a value: a mapping; expected names and values such "
          "as "
          "{tenant: acme}"));
}

TEST(Fault, References) {
  EXPECT_THAT(faults("outbox: {store: \"postgresql://app:${env:PWD_X}@h/db\", name: \"${file:/nope}\", listen: "
                     "\"${foo}\", table: \"${env\"}\n"
                     "kafka: {bootstrap.servers: b, sasl.password: \"${env:NO}\"}\n"),
              ElementsAre("a.yaml:1:17: outbox.store refers to the environment variable PWD_X, which is not set: "
                          "postgresql://app:***@h/db; set it, or write the value here",
                          "a.yaml:1:61: outbox.name refers to the file /nope, which cannot be read (no such file): "
                          "${file:/nope}; create it, or correct the path",
                          "a.yaml:1:86: outbox.listen holds a reference of an unknown form: ${foo}; expected "
                          "${env:NAME} or ${file:PATH}; write $${ where a plain ${ is meant",
                          "a.yaml:1:103: outbox.table holds a reference without its closing }: ${env; expected "
                          "${env:NAME} or ${file:PATH}; write $${ where a plain ${ is meant",
                          "a.yaml:2:46: kafka.sasl.password refers to the environment variable NO, which is not set; "
                          "set it, or write the value here"));
}

TEST(Fault, PropertiesThatBreakAPromise) {
  EXPECT_THAT(
      faults("kafka:\n"
             "  bootstrap.servers: b\n"
             "  enable.idempotence: false\n"
             "  acks: 1\n"
             "  max.in.flight.requests.per.connection: 6\n"
             "  max.in.flight: 6\n"
             "  message.timeout.ms: 1000\n"
             "  delivery.timeout.ms: 1000\n"
             "  partitioner: random\n"
             "  retries: 3\n"
             "  transactional.id: t\n"
             "outbox: {store: \"sqlite:x\"}\n"),
      ElementsAre("a.yaml:3:23: kafka.enable.idempotence may not be set so: false; expected true; leave it out; "
                  "retries could duplicate and reorder records: order per key would not hold",
                  "a.yaml:4:9: kafka.acks may not be set so: 1; expected all; leave it out; a record is lost when the "
                  "one broker that has it fails: nothing lost would not hold",
                  "a.yaml:5:42: kafka.max.in.flight.requests.per.connection may not be set so: 6; expected 1 to 5; "
                  "leave it out; a retry could overtake a later batch: order per key would not hold",
                  "a.yaml:6:18: kafka.max.in.flight may not be set so: 6; expected 1 to 5; leave it out; a retry could "
                  "overtake a later batch: order per key would not hold",
                  "a.yaml:7:23: kafka.message.timeout.ms may not be set so: 1000; expected 0; leave it out; a record "
                  "that expires in the queue is skipped: order per key and nothing lost would not hold",
                  "a.yaml:8:24: kafka.delivery.timeout.ms may not be set so: 1000; expected 0; leave it out; a record "
                  "that expires in the queue is skipped: order per key and nothing lost would not hold",
                  "a.yaml:9:16: kafka.partitioner may not be set so: random; expected murmur2_random; leave it out; a "
                  "key would move to another partition than Java clients use: order per key would not hold",
                  "a.yaml:10:12: kafka.retries may not be set so: 3; expected 2147483647; leave it out; a record that "
                  "runs out of retries is skipped: order per key would not hold",
                  "a.yaml:11:21: kafka.transactional.id may not be set so: t; leave it out; the relay manages "
                  "transactions itself: see delivery"));
}

TEST(Fault, PropertiesThatAreNested) {
  EXPECT_THAT(faults("kafka: {bootstrap.servers: b, sasl: {password: hush}, brokers: [a, b]}\n"
                     "outbox: {store: \"sqlite:x\"}\n"),
              ElementsAre("a.yaml:1:37: kafka.sasl is not a single value: a mapping; expected a librdkafka property "
                          "under its full name; write sasl.password: … on one line",
                          "a.yaml:1:64: kafka.brokers is not a single value: a list; expected a librdkafka property "
                          "under its full name; write the items in one text, with commas"));
}

TEST(Fault, AnOpenAddressWithoutToken) {
  EXPECT_THAT(faults(kComplete + "http: {listen: \"0.0.0.0:80\"}\n"),
              ElementsAre("a.yaml:3:16: http.listen opens 0.0.0.0:80 to the network without a token; set http.token, "
                          "listen on 127.0.0.1, or say http.insecure: true"));
}

TEST(Fault, StoresThatAreNone) {
  const std::pair<std::string, std::string> cases[] = {
      {"mysql://app:hush@h/db",
       "a.yaml:1:17: outbox.store is not the URL of a store: mysql://app:***@h/db; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH"},
      {"postgresq://h/db",
       "a.yaml:1:17: outbox.store is not the URL of a store: postgresq://h/db; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; did you mean postgresql://?"},
      {"jdbc:postgresql://h/db",
       "a.yaml:1:17: outbox.store is a JDBC URL: jdbc:postgresql://h/db; expected postgresql://USER@HOST:PORT/DATABASE "
       "or sqlite:PATH; leave out jdbc: and put the user before the host"},
      {"host=h password=hush",
       "a.yaml:1:17: outbox.store is a list of connection parameters: host=h password=***; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; write it as a URL"},
      {"postgresql://app:s3/hu@sh@h/db",
       "a.yaml:1:17: outbox.store holds a password that is cut short by its own characters: postgresql://app:***@h/db; "
       "expected postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; percent-encode / @ : ? # and % in it (%2F %40 "
       "%3A %3F %23 %25)"},
      {"postgresql://app:hush/db",
       "a.yaml:1:17: outbox.store has no valid host and port: postgresql://app:***/db; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; a port is a number from 1 to 65535"},
      {"postgresql://h:99999/db",
       "a.yaml:1:17: outbox.store has no valid host and port: postgresql://h:99999/db; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; a port is a number from 1 to 65535"},
      {"postgresql://h /db",
       "a.yaml:1:17: outbox.store holds white space: postgresql://h /db; expected postgresql://USER@HOST:PORT/DATABASE "
       "or sqlite:PATH; percent-encode it as %20"},
      {"sqlite:",
       "a.yaml:1:17: outbox.store names no file: sqlite:; expected postgresql://USER@HOST:PORT/DATABASE or "
       "sqlite:PATH"},
      {"sqlite:///x",
       "a.yaml:1:17: outbox.store has slashes before the path: sqlite:///x; expected "
       "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH; write sqlite:/x for an absolute path, sqlite:x for a "
       "relative one"},
      {"",
       "a.yaml:1:17: outbox.store is not the URL of a store: \"\"; expected postgresql://USER@HOST:PORT/DATABASE or "
       "sqlite:PATH"}};
  for (const auto& [store, message] : cases) {
    EXPECT_THAT(faults("outbox: {store: \"" + store + "\"}\nkafka: {bootstrap.servers: b}\n"), ElementsAre(message));
  }
}

TEST(Fault, FilesThatCannotBeRead) {
  const Sources real = process_sources();
  EXPECT_THAT(
      lines(load_file("/nonexistent/a.yaml", real)),
      ElementsAre(
          "/nonexistent/a.yaml: cannot be read (no such file); give the path of a readable YAML file with --config"));
  EXPECT_THAT(
      lines(load_file("/", real)),
      ElementsAre("/: cannot be read (it is a directory); give the path of a readable YAML file with --config"));
  Sources forbidden = fake_sources();
  forbidden.read_file = [](const std::string&) -> base::Result<std::string> {
    return base::fail(base::ErrorClass::kMisconfigured, "Permission denied");
  };
  EXPECT_THAT(
      lines(load_file("b.yaml", forbidden)),
      ElementsAre("b.yaml: cannot be read (Permission denied); give the path of a readable YAML file with --config"));
}

TEST(Fault, OfTheEnvironmentNamesTheVariable) {
  const auto result = load_text(kComplete, "a.yaml",
                                fake_sources({{"SPILLWAY_LOG_LEVEL", "loud"}, {"SPILLWAY_SIGNALS", "[{name: a}]"}}));
  EXPECT_THAT(lines(result),
              ElementsAre("environment SPILLWAY_LOG_LEVEL: log.level is not one of its choices: loud; expected trace, "
                          "debug, info, warn, error",
                          "environment SPILLWAY_SIGNALS: signals[0].kind is missing; expected prometheus, kafka_lag, "
                          "http_probe, push, relay"));
}

TEST(Fault, IsAValueForMachines) {
  const auto result = load_text(kComplete + "log: {levl: info}\n", "a.yaml", fake_sources());
  ASSERT_EQ(result.error().size(), 1U);
  const Fault& fault = result.error()[0];
  EXPECT_EQ(fault.kind, FaultKind::kUnknownKey);
  EXPECT_EQ(fault.origin.place, (Place{"a.yaml", 3, 7}));
  EXPECT_EQ(fault.key, "log.levl");
  EXPECT_EQ(fault.nearest, "log.level");
}

TEST(Fault, NeverShowsASecret) {
  const auto result = load_text(
      "outbox: {store: 'postgresql://a:HUSH/db', listen: 'http://u:HUSH@h'}\n"
      "kafka: {sasl.password: [HUSH], sasl: {password: HUSH}, ssl.key.pem: '${env:NONE}HUSH'}\n"
      "http: {token: [HUSH], tokne: HUSH, listen: '${env:S}'}\nlog: HUSH\nroute: [HUSH]\n",
      "a.yaml", fake_sources({{"S", "HUSH"}, {"SPILLWAY_HTTP_TOKEN", "HUSH${x"}}));
  ASSERT_FALSE(result);
  for (const std::string& line : lines(result)) EXPECT_THAT(line, Not(HasSubstr("HUSH")));
}

}  // namespace
}  // namespace spillway::config
