#include "bench/judging.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "bench/latency.h"
#include "bench/measure.h"
#include "bench/raw_parts.h"
#include "relay/relay_process.h"
#include "support/eventually.h"

namespace spillway::bench {
namespace {

using testing::RelayProcess;

constexpr const char* kDatabase = "judging";
constexpr const char* kTopic = "judged";
constexpr const char* kReconcileTopic = "judged-reconcile";
constexpr int kPartitions = 6;

constexpr const char* kRules = R"(triage:
  replay_window: 24h
  rules:
    - {name: settled, when: {type: "payment.*", sql: "select 1 from ledger where transaction_id = $aggregateid"}, then: discard}
    - {name: expired-session, when: {type: "session.*", older_than: 2h}, then: discard}
    - {name: quote-superseded, when: {type: "quote.*", newer_for_key: true}, then: discard}
    - {name: test-tenant, when: {header: {tenant: test}}, then: discard}
    - {name: big-customers, when: {key: "vip-*"}, then: publish}
)";

// Half payments, a tenth of which was settled by hand; sessions and quotes; up to 30 h old, none near a limit of a
// rule.
void fill(const testing::PostgresServer& server, std::int64_t rows, std::size_t payload_bytes) {
  const auto run = [&](const std::string& sql) { server.execute(sql, kDatabase); };
  run("create table ledger (transaction_id text primary key)");
  run(fmt::format("insert into ledger select 'p' || i from generate_series(0, {}, 10) i", rows));
  constexpr std::int64_t kPiece = 10'000;
  for (std::int64_t from = 0; from < rows; from += kPiece) {
    run(fmt::format(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, headers, created_at) select '{}', "
        "case when i % 2 = 0 then 'p' || i / 2 when i % 97 = 0 then 'vip-' || i else 'k' || i % 20011 end, "
        "case when i % 2 = 0 then 'payment.made' when i % 5 = 1 then 'session.started' else 'quote.given' end, "
        "repeat('x', {}), case when i % 20 = 3 then '{{\"tenant\":\"test\"}}' end::json, "
        "now() - case when i % 40 < 3 then interval '30 hours' when i % 3 = 0 then interval '5 hours' "
        "else interval '1 hour' end from generate_series({}, {}) i",
        kTopic, payload_bytes, from, std::min(rows, from + kPiece) - 1));
  }
  run("vacuum analyze");
}

using Counts = std::map<std::pair<std::string, std::string>, std::int64_t>;  // by rule and verdict

Counts previewed(const RelayProcess& relay) {
  const testing::Finished finished = relay.command("triage --json");
  if (finished.exit_status != 0) throw std::runtime_error("spillway triage: " + finished.err);
  const auto report = nlohmann::json::parse(finished.out);
  Counts counts;
  for (const auto& group : report.at("groups")) {
    if (group.at("verdict") == "publish") continue;
    counts[{group.at("rule").get<std::string>(), group.at("verdict").get<std::string>()}] +=
        group.at("events").get<std::int64_t>();
  }
  return counts;
}

Counts recorded(const testing::PostgresServer& server) {
  Counts counts;
  for (const auto& row :
       server.execute("select rule, verdict, count(*) from spillway.settled group by 1, 2", kDatabase)) {
    counts[{*row[0], *row[1]}] = std::stoll(*row[2]);
  }
  return counts;
}

std::int64_t of_verdict(const Counts& counts, const std::string& verdict) {
  std::int64_t sum = 0;
  for (const auto& [key, count] : counts) sum += key.second == verdict ? count : 0;
  return sum;
}

}  // namespace

Judging measure_judging(const testing::PostgresServer& server, testing::KafkaBroker& broker, std::int64_t rows,
                        std::size_t payload_bytes) {
  server.execute(fmt::format("create database {}", kDatabase));
  broker.create_topic(kTopic, kPartitions);
  broker.create_topic(kReconcileTopic, kPartitions);
  RelayProcess relay({.store = server.uri(kDatabase),
                      .bootstrap = broker.bootstrap(),
                      .more = kRules,
                      .env = {{"SPILLWAY_ROUTE_RECONCILE_TOPIC", kReconcileTopic}}});
  relay.init();
  fill(server, rows, payload_bytes);

  const Stopwatch previewing;
  const Counts preview = previewed(relay);
  Judging judging{.preview_per_s = static_cast<double>(rows) / previewing.seconds()};
  judging.reconciled = of_verdict(preview, "reconcile");
  judging.discarded = of_verdict(preview, "discard");
  judging.published = rows - judging.reconciled - judging.discarded;

  const TopicSize published(broker.bootstrap(), kTopic, kPartitions);
  const TopicSize reconciled(broker.bootstrap(), kReconcileTopic, kPartitions);
  const Stopwatch judged;
  relay.start();
  const bool done = testing::eventually(
      [&] {
        return published.records() >= judging.published && reconciled.records() >= judging.reconciled &&
               recorded(server) == preview;
      },
      std::chrono::seconds(300), std::chrono::milliseconds(50));
  judging.daemon_per_s = static_cast<double>(rows) / judged.seconds();
  judging.rss_mib = peak_rss_mib(relay.pid());
  relay.stop();
  if (done && published.records() == judging.published && reconciled.records() == judging.reconciled) return judging;
  std::string difference;
  const Counts outcome = recorded(server);
  for (const auto& [key, count] : preview) {
    const auto at = outcome.find(key);
    difference += fmt::format("\n  {} by {}: {} previewed, {} recorded", key.second, key.first, count,
                              at == outcome.end() ? 0 : at->second);
  }
  throw std::runtime_error(fmt::format("preview and outcome differ: {} of {} published, {} of {} reconciled{}\n{}",
                                       published.records(), judging.published, reconciled.records(), judging.reconciled,
                                       difference, relay.log()));
}

}  // namespace spillway::bench
