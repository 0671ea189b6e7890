// `./dev bench`: the relay beside the raw parts it cannot be faster than, all in one run on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/judging.h"
#include "bench/latency.h"
#include "bench/measure.h"
#include "bench/raw_parts.h"
#include "bench/sqlite_outbox.h"
#include "relay/relay_process.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/temp_dir.h"

namespace spillway::bench {
namespace {

using testing::KafkaBroker;
using testing::PostgresServer;
using testing::RelayProcess;

constexpr std::size_t kPayload = 256;
constexpr int kBenchPartitions = 6;

struct Options {
  std::int64_t rows = 1'000'000;
  int latency_seconds = 10;
  std::string json;
};

void say(const std::string& what) { std::cerr << what << std::endl; }

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    broker_.create_topic("bench", kBenchPartitions);
    broker_.create_topic("bench-sqlite", kBenchPartitions);
    broker_.create_topic("bare", kBenchPartitions);
    broker_.create_topic("latency", kBenchPartitions);
  }

  nlohmann::json run() {
    nlohmann::json figures;
    postgres_relay_.init();
    idle(figures);
    latency(figures);
    say(fmt::format("writing {} rows", options_.rows));
    fill();
    say("bare producer, bare COPY");
    const double producer = bare_producer(broker_.bootstrap(), "bare", options_.rows, kPayload);
    const double copy = bare_copy(server_.uri());
    const double bound = 1 / (1 / producer + 1 / copy);
    figures["producer_per_s"] = producer;
    figures["copy_per_s"] = copy;
    figures["bound_per_s"] = bound;
    drain_postgres(figures);
    drain_sqlite(figures);
    figures["drain_over_bound"] = figures["drain_per_s"].get<double>() / bound;
    judging(figures);
    return figures;
  }

 private:
  void idle(nlohmann::json& figures) {
    say("idle, 10 s");
    postgres_relay_.start();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const double before = cpu_seconds(postgres_relay_.pid());
    std::this_thread::sleep_for(std::chrono::seconds(10));
    figures["idle_cpu"] = (cpu_seconds(postgres_relay_.pid()) - before) / 10;
  }

  void latency(nlohmann::json& figures) {
    say(fmt::format("latency at 1000/s, {} s", options_.latency_seconds));
    const Latency latency =
        measure_latency(server_.uri(), broker_.bootstrap(), "latency", 1'000, options_.latency_seconds);
    figures["latency_ms"] = {{"p50", latency.p50_ms}, {"p99", latency.p99_ms}};
    postgres_relay_.stop();
  }

  void fill() {
    const std::int64_t piece = 10'000;
    for (std::int64_t from = 0; from < options_.rows; from += piece) {
      server_.execute(
          fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) select 'bench', 'k' || "
                      "i % 10000, 'made', "
                      "repeat('x', {}) from generate_series({}, {}) i",
                      kPayload, from, std::min(options_.rows, from + piece) - 1));
    }
    server_.execute("vacuum analyze spillway.outbox");
    server_.execute("checkpoint");
  }

  std::int64_t rows_written() {
    return std::stoll(
        server_.value("select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables where schemaname = "
                      "'spillway' and relname <> "
                      "'outbox'"));
  }

  struct Drain {
    double per_s = 0;
    double rss_mib = 0;
    double cpu_us_per_event = 0;
  };

  // From the first record that arrives to the last, so that waiting for the lease does not count.
  Drain drain(RelayProcess& relay, const std::string& topic) {
    const TopicSize size(broker_.bootstrap(), topic, kBenchPartitions);
    relay.start();
    const double cpu = cpu_seconds(relay.pid());
    testing::eventually([&] { return size.records() > 0; }, std::chrono::seconds(30), std::chrono::milliseconds(2));
    const Stopwatch watch;
    const std::int64_t first = size.records();
    const bool done = testing::eventually([&] { return size.records() >= options_.rows; }, std::chrono::seconds(600),
                                          std::chrono::milliseconds(20));
    const double seconds = watch.seconds();
    if (!done) throw std::runtime_error("the drain did not end: " + relay.log());
    const Drain drained{static_cast<double>(options_.rows - first) / seconds, peak_rss_mib(relay.pid()),
                        (cpu_seconds(relay.pid()) - cpu) / static_cast<double>(options_.rows) * 1e6};
    relay.stop();
    return drained;
  }

  void drain_postgres(nlohmann::json& figures) {
    say("draining PostgreSQL");
    const std::int64_t written = rows_written();
    const Drain drained = drain(postgres_relay_, "bench");
    figures["drain_per_s"] = drained.per_s;
    figures["rss_mib"] = drained.rss_mib;
    figures["relay_cpu_us_per_event"] = drained.cpu_us_per_event;
    figures["rows_written_per_event"] =
        static_cast<double>(rows_written() - written) / static_cast<double>(options_.rows);
  }

  void drain_sqlite(nlohmann::json& figures) {
    say("draining SQLite");
    const testing::TempDir folder("sqlite");
    const std::string path = folder.path() / "outbox.db";
    RelayProcess relay({.store = "sqlite:" + path, .bootstrap = broker_.bootstrap()});
    relay.init();
    fill_sqlite(path, "bench-sqlite", options_.rows, kPayload);
    figures["sqlite_drain_per_s"] = drain(relay, "bench-sqlite").per_s;
  }

  void judging(nlohmann::json& figures) {
    say(fmt::format("judging {} rows", options_.rows));
    const Judging judging = measure_judging(server_, broker_, options_.rows, kPayload);
    figures["judging"] = {{"preview_per_s", judging.preview_per_s},
                          {"daemon_per_s", judging.daemon_per_s},
                          {"rss_mib", judging.rss_mib},
                          {"published", judging.published},
                          {"reconciled", judging.reconciled},
                          {"discarded", judging.discarded}};
  }

  Options options_;
  PostgresServer server_{testing::PostgresOptions{.durable = true, .settings = {{"shared_buffers", "512MB"}}}};
  KafkaBroker broker_;
  RelayProcess postgres_relay_{{.store = server_.uri(), .bootstrap = broker_.bootstrap()}};
};

void print(const nlohmann::json& f) {
  const auto line = [](std::string_view what, std::string value, std::string_view least, std::string_view aim) {
    fmt::print("{:<44}{:>16}{:>16}{:>16}\n", what, value, least, aim);
  };
  fmt::print("{:<44}{:>16}{:>16}{:>16}\n", "", "measured", "at least", "aim");
  line("bare producer, records/s", fmt::format("{:.0f}", f["producer_per_s"].get<double>()), "", "");
  line("bare COPY, rows/s", fmt::format("{:.0f}", f["copy_per_s"].get<double>()), "", "");
  line("drain, PostgreSQL to broker, events/s", fmt::format("{:.0f}", f["drain_per_s"].get<double>()), "120000", "");
  line("  of the bound of both", fmt::format("{:.0f} %", f["drain_over_bound"].get<double>() * 100), "60 %", "85 %");
  line("drain, SQLite to broker, events/s", fmt::format("{:.0f}", f["sqlite_drain_per_s"].get<double>()), "", "");
  line("  of the bare producer",
       fmt::format("{:.0f} %", f["sqlite_drain_per_s"].get<double>() / f["producer_per_s"].get<double>() * 100), "60 %",
       "80 %");
  line("rows written per event", fmt::format("{:.5f}", f["rows_written_per_event"].get<double>()), "0.01", "0.001");
  line("latency at 1,000/s, p50", fmt::format("{:.1f} ms", f["latency_ms"]["p50"].get<double>()), "5 ms", "3 ms");
  line("latency at 1,000/s, p99", fmt::format("{:.1f} ms", f["latency_ms"]["p99"].get<double>()), "25 ms", "10 ms");
  line("peak memory while draining", fmt::format("{:.0f} MiB", f["rss_mib"].get<double>()), "64 MiB", "48 MiB");
  line("CPU of the relay per event", fmt::format("{:.2f} us", f["relay_cpu_us_per_event"].get<double>()), "", "");
  const auto& judging = f["judging"];
  line("five rules, previewed, rows/s", fmt::format("{:.0f}", judging["preview_per_s"].get<double>()), "50000", "");
  line("five rules, carried out, rows/s", fmt::format("{:.0f}", judging["daemon_per_s"].get<double>()), "50000", "");
  line("  publish / reconcile / discard",
       fmt::format("{} / {} / {}", judging["published"].get<std::int64_t>(), judging["reconciled"].get<std::int64_t>(),
                   judging["discarded"].get<std::int64_t>()),
       "", "");
  line("  peak memory", fmt::format("{:.0f} MiB", judging["rss_mib"].get<double>()), "64 MiB", "48 MiB");
  line("idle CPU", fmt::format("{:.2f} %", f["idle_cpu"].get<double>() * 100), "1 %", "0.2 %");
}

}  // namespace
}  // namespace spillway::bench

int main(int argc, char** argv) {
  spillway::bench::Options options;
  CLI::App app("The relay beside the raw parts, in one run");
  app.add_option("--rows", options.rows, "rows to drain")->capture_default_str();
  app.add_option("--latency-seconds", options.latency_seconds)->capture_default_str();
  app.add_option("--json", options.json, "also write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto figures = spillway::bench::Bench(options).run();
    spillway::bench::print(figures);
    if (!options.json.empty()) std::ofstream(options.json) << figures.dump(2) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << '\n';
    return 1;
  }
}
