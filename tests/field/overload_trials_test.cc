// Reports in which what had waited did the damage: let out at once, or before what was urgent.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "bank/bank.h"
#include "bank/bank_consumer.h"
#include "field/field_report.h"
#include "field/http_get.h"

namespace spillway::testing {
namespace {

const std::map<std::string, std::string> kAppendTime = {{"message.timestamp.type", "LogAppendTime"}};

nlohmann::json status(const RelayProcess& relay) { return nlohmann::json::parse(relay.command("status --json").out); }

// One event at a time at an even rate, for as long as it lives.
class SteadyWriter {
 public:
  SteadyWriter(PostgresServer& server, std::string database, std::string topic, std::chrono::milliseconds every)
      : thread_([this, &server, database = std::move(database), topic = std::move(topic), every] {
          auto due = Clock::now();
          for (std::int64_t n = 1; !stop_; ++n) {
            server.execute(fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values "
                                       "('{0}', 'live{1}', 'made', 'live{1} 1')",
                                       topic, n),
                           database);
            written_ = n;
            std::this_thread::sleep_until(due += every);
          }
        }) {}
  ~SteadyWriter() { finish(); }
  void finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::int64_t written() const { return written_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::int64_t> written_ = 0;
  std::thread thread_;
};

// The next system: `servers` calls of 50 ms at a time, and it says how long they take.
class Downstream {
 public:
  explicit Downstream(int servers) {
    bank::BankOptions options;
    options.downstream.servers = servers;
    options.on_answer = [this](const bank::Answer& answer) { heard(answer); };
    bank_.emplace(std::move(options));
  }

  std::string signal(int ceiling_ms) const {
    return fmt::format(
        "signals:\n"
        "  - {{name: bank, kind: prometheus, url: \"{}\", every: 250ms, timeout: 250ms, dead_time: 1s,\n"
        "     histogram: bank_call_seconds, errors: bank_call_errors_total, latency_ceiling: {}ms,\n"
        "     error_ceiling: 2%}}\n",
        bank_->metrics_urls().front(), ceiling_ms);
  }
  void consume(const std::string& bootstrap, const std::string& topic) {
    bank::ConsumerOptions options{
        .feed = {.bootstrap = bootstrap, .topic = topic}, .in_hand = 100'000, .timeout = 2s, .retries = 3};
    options.on_done = [this](const bank::Record& record, base::Instant) {
      if (!record.key.starts_with("live")) ++backlog_done_;
    };
    consumer_.emplace(*bank_, std::move(options));
    ASSERT_TRUE(eventually([&] { return consumer_->figures().partitions > 0; }, 30s));
  }
  void stop() { consumer_->stop(); }
  bank::Bank& bank() { return *bank_; }
  bank::ConsumerFigures figures() const { return consumer_->figures(); }
  int backlog_done() const { return backlog_done_; }

  // Whole seconds since `from` in which more than one answer of fifty took longer than `ceiling`.
  int seconds_over(Clock::time_point from, double ceiling_s) {
    const std::lock_guard lock(mutex_);
    std::map<long, std::pair<int, int>> seconds;  // all, over
    for (const bank::Answer& answer : answers_) {
      const double at = base::seconds(answer.at - base::Instant(from.time_since_epoch()));
      if (at < 0) continue;
      auto& [all, over] = seconds[static_cast<long>(at)];
      ++all;
      if (base::seconds(answer.latency) > ceiling_s) ++over;
    }
    return static_cast<int>(std::ranges::count_if(
        seconds, [](const auto& second) { return second.second.second * 50 > second.second.first; }));
  }

 private:
  void heard(const bank::Answer& answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(answer);
  }

  std::mutex mutex_;
  std::vector<bank::Answer> answers_;
  std::atomic<int> backlog_done_ = 0;
  std::optional<bank::Bank> bank_;  // before the consumer, which calls it
  std::optional<bank::BankConsumer> consumer_;
};

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Records a second, from `from_ms` on, whose key does not begin with "live".
std::vector<int> backlog_rates(const std::vector<TopicRecord>& records, std::int64_t from_ms) {
  std::vector<int> rates;
  for (const TopicRecord& record : records) {
    if (record.timestamp_ms < from_ms || record.key->starts_with("live")) continue;
    const auto second = static_cast<std::size_t>((record.timestamp_ms - from_ms) / 1'000);
    if (second >= rates.size()) rates.resize(second + 1);
    ++rates[second];
  }
  return rates;
}

// The first record that the broker took from `from_ms` on.
std::int64_t first_append(const std::vector<TopicRecord>& records, std::int64_t from_ms) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const TopicRecord& record : records) {
    if (record.timestamp_ms >= from_ms) first = std::min(first, record.timestamp_ms);
  }
  return first;
}

double p99(std::vector<double> delays) {
  std::ranges::sort(delays);
  return delays[delays.size() - 1 - delays.size() / 100];
}

struct LiveEvent {
  std::int64_t written_ms = 0;
  std::optional<std::int64_t> appended_ms;
};

class OverloadReport : public FieldReport {
 protected:
  // In the order in which they were written.
  std::vector<LiveEvent> live_events(const std::string& topic) const {
    std::map<std::string, std::int64_t> appended;
    for (const TopicRecord& record : records(topic)) appended.emplace(*record.key, record.timestamp_ms);
    std::vector<LiveEvent> events;
    for (const auto& row : server().execute(
             fmt::format("select aggregateid, (extract(epoch from created_at) * 1000)::bigint::text from "
                         "spillway.outbox where aggregatetype = '{}' and aggregateid like 'live%' order by seq",
                         topic),
             database())) {
      const auto found = appended.find(*row[0]);
      events.push_back({std::stoll(*row[1]), found == appended.end() ? std::nullopt : std::optional(found->second)});
    }
    return events;
  }

  // Seconds from commit to append of the live events that were written from `from_ms` on.
  std::vector<double> live_delays(const std::string& topic, std::int64_t from_ms) const {
    std::vector<double> delays;
    for (const LiveEvent& event : live_events(topic)) {
      if (event.written_ms < from_ms) continue;
      delays.push_back(event.appended_ms ? static_cast<double>(*event.appended_ms - event.written_ms) / 1e3 : 1e9);
    }
    return delays;
  }

  // Writes alerts beside the bulk job that `bulk` inserts, which is to take longer than the trial.
  void alerts_beside(const std::string& bulk, RelaySettings settings);
};

TEST_F(OverloadReport, BR046_WhatWaitedIsLetOutInStepsAndTheNextSystemStandsIt) {
  constexpr int kBacklog = 600;
  broker().create_topic(name(), 3, kAppendTime);
  Downstream downstream(20);
  RelaySettings settings = proxied();
  // So many rows may be on their way to a broker that is away, and go out at once when it is back.
  settings.more = "lanes: {live_age: 1s}\nlimits: {events_in_flight: 50, ahead: 50}\ngovernor: {min: 120}\n" +
                  downstream.signal(400);
  RelayProcess relay(settings);
  relay.init();
  downstream.consume(broker().bootstrap(), name());
  relay.start();
  ASSERT_TRUE(owned_by(relay)) << relay.log();
  SteadyWriter live(server(), database(), name(), 25ms);
  ASSERT_TRUE(published(40));

  network().set_refusing(true);
  network().cut(TcpProxy::Cut::kReset);
  for (int round = 0; round < kBacklog / 10; ++round) {
    insert(fmt::format("k{}", round), 1, 10);
    std::this_thread::sleep_for(20ms);
  }
  std::this_thread::sleep_for(1s);
  const auto mended = Clock::now();
  const std::int64_t mended_ms = unix_ms();
  network().set_refusing(false);

  const auto eta_said = [&] { return metric(relay.http_port(), "spillway_backlog_eta_seconds").value_or(-1) > 0; };
  EXPECT_TRUE(eventually(eta_said, 15s, 100ms)) << status(relay);
  const bool cleared = eventually([&] { return downstream.backlog_done() == kBacklog; }, 40s, 100ms);
  const std::chrono::duration<double> took = Clock::now() - mended;
  const std::vector<int> rates = backlog_rates(records(), mended_ms);
  const int over = downstream.seconds_over(mended, 0.4);
  std::cout << fmt::format("clear after {:.1f} s; backlog events in each second: {}; seconds over the ceiling: {}\n",
                           took.count(), fmt::join(rates, " "), over);
  ASSERT_TRUE(cleared) << status(relay) << relay.log();
  live.finish();
  ASSERT_TRUE(all_done());
  ASSERT_TRUE(eventually([&] { return downstream.figures().done == kBacklog + live.written(); }, 10s));
  downstream.stop();
  EXPECT_LE(*std::ranges::max_element(rates), kBacklog / 2) << "let out at once";
  const std::vector<double> delays = live_delays(name(), first_append(records(), mended_ms) + 500);
  ASSERT_GT(delays.size(), 50U);
  EXPECT_LE(p99(delays), 1) << "live waits behind the backlog";
  EXPECT_LE(over, 3);
  EXPECT_EQ(downstream.figures().given_up, 0);
  EXPECT_EQ(expect_complete().duplicates, 0);
}

// Cold it does 80 calls a second; an answer in time warms it, a late one cools it, up to 480.
class ColdDownstream {
 public:
  explicit ColdDownstream(Downstream& downstream) : downstream_(downstream), thread_([this] { follow(); }) {}
  ~ColdDownstream() { finish(); }
  void finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int servers() const { return servers_; }

  static constexpr int kCold = 4;
  static constexpr int kWarm = 24;

 private:
  void follow() {
    bank::BankFigures before;
    double servers = kCold;
    while (!stop_) {
      const bank::BankFigures now = downstream_.bank().figures();
      servers *= std::pow(1.002, now.done - before.done) * std::pow(0.99, now.late - before.late);
      servers = std::clamp<double>(servers, kCold, kWarm);
      if (static_cast<int>(servers) != servers_) downstream_.bank().set_servers(static_cast<int>(servers));
      servers_ = static_cast<int>(servers);
      before = now;
      std::this_thread::sleep_for(50ms);
    }
  }

  Downstream& downstream_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> servers_ = kCold;
  std::thread thread_;
};

TEST_F(OverloadReport, BR048_AColdDownstreamIsFollowedWhileItWarms) {
  constexpr int kBacklog = 2'000;
  broker().create_topic(name(), 3, kAppendTime);
  Downstream downstream(ColdDownstream::kCold);
  RelaySettings settings = direct();
  settings.more = "lanes: {live_age: 1s}\n" + downstream.signal(400);
  RelayProcess relay(settings);
  relay.init();
  downstream.consume(broker().bootstrap(), name());
  ColdDownstream cold(downstream);
  insert_many(name(), 500, kBacklog / 500);
  std::this_thread::sleep_for(1500ms);
  SteadyWriter live(server(), database(), name(), 25ms);
  const auto start = Clock::now();
  const std::int64_t start_ms = unix_ms();
  relay.start();
  ASSERT_TRUE(eventually([&] { return downstream.backlog_done() > 100; }, 15s)) << status(relay) << relay.log();
  ASSERT_EQ(relay.command("governor set --max 60 --for 1m --reason trial").exit_status, 0);
  EXPECT_TRUE(eventually([&] { return status(relay)["governor"]["total"].get<double>() <= 60; }, 5s)) << status(relay);
  ASSERT_EQ(relay.command("governor clear").exit_status, 0);
  const bool cleared = eventually([&] { return downstream.backlog_done() == kBacklog; }, 40s, 100ms);
  const std::chrono::duration<double> took = Clock::now() - start;
  const int over = downstream.seconds_over(start, 0.4);
  std::cout << fmt::format("clear after {:.1f} s; backlog events in each second: {}; seconds over the ceiling: {}\n",
                           took.count(), fmt::join(backlog_rates(records(), start_ms), " "), over);
  ASSERT_TRUE(cleared) << status(relay) << relay.log();
  EXPECT_GE(cold.servers(), ColdDownstream::kWarm * 3 / 4) << "still cold";
  EXPECT_LE(over, 5);
  EXPECT_EQ(downstream.figures().given_up, 0);
  live.finish();
  ASSERT_TRUE(all_done());
  cold.finish();
  downstream.stop();
}

TEST_F(OverloadReport, BR048B_LetOutAtOnceItStaysCold) {
  broker().create_topic(name(), 3, kAppendTime);
  Downstream downstream(ColdDownstream::kCold);
  RelaySettings settings = direct();
  settings.more = "lanes: {live_age: 1s}\ngovernor: {law: unlimited}\n" + downstream.signal(400);
  RelayProcess relay(settings);
  relay.init();
  downstream.consume(broker().bootstrap(), name());
  ColdDownstream cold(downstream);
  insert_many(name(), 500, 4);
  SteadyWriter live(server(), database(), name(), 25ms);
  relay.start();
  ASSERT_TRUE(published(2'000)) << relay.log();
  std::this_thread::sleep_for(5s);
  EXPECT_EQ(cold.servers(), ColdDownstream::kCold) << "the trial above proves nothing";
  live.finish();
  cold.finish();
  downstream.stop();
}

void OverloadReport::alerts_beside(const std::string& bulk, RelaySettings settings) {
  const std::string alerts = name() + "-alerts";
  broker().create_topic(alerts, 1, kAppendTime);
  settings.more += "lanes: {live_age: 1s}\nlimits: {events_in_flight: 200}\n";
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay)) << relay.log();
  SteadyWriter urgent(server(), database(), alerts, 25ms);
  sql(bulk);
  const std::int64_t written_ms = unix_ms();
  std::this_thread::sleep_for(7s);
  urgent.finish();
  std::this_thread::sleep_for(1s);
  const nlohmann::json now = status(relay);
  EXPECT_GT(now["backlog"]["events"].get<double>(), 20) << "the bulk job was over too soon to be in the way: " << now;
  EXPECT_GT(now["relay"]["sent"]["live"].get<double>(), 100) << now;
  EXPECT_GT(now["relay"]["sent"]["backlog"].get<double>(), 20) << now;
  EXPECT_LE(metric(relay.http_port(), "spillway_backlog_oldest_age_seconds{lane=\"live\"}").value_or(0), 1);
  EXPECT_GE(metric(relay.http_port(), "spillway_backlog_oldest_age_seconds{lane=\"backlog\"}").value_or(0), 5);

  // What is visible when the recovery begins, live_age after the bulk job, is backlog like it.
  const std::int64_t border_ms = written_ms + 2'000;
  std::vector<double> delays = live_delays(alerts, border_ms);
  ASSERT_GT(delays.size(), 100U);
  std::ranges::sort(delays);
  std::cout << fmt::format("{} alerts beside the bulk job: median {:.3f} s, p99 {:.3f} s, longest {:.3f} s\n",
                           delays.size(), delays[delays.size() / 2], p99(delays), delays.back());
  EXPECT_LE(p99(delays), 1);
}

TEST_F(OverloadReport, BR054_ABulkJobDoesNotDelayWhatIsUrgent) {
  broker().create_topic("bulk", 3);
  network().set_delay(50ms);  // or the broker would have taken all of it within the second
  RelaySettings settings = proxied();
  settings.more = "governor: {law: fixed, max: 1000}\n";
  alerts_beside(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
      "select 'bulk', 'k' || n % 1000, 'made', 'k' || n % 1000 || ' ' || n from generate_series(1, 50000) n",
      settings);
}

TEST_F(OverloadReport, BR054B_NorDoesABulkJobOfLargeRows) {
  broker().create_topic("large", 3);
  RelaySettings settings = direct();
  settings.more = "governor: {law: fixed, min: 10, max: 60}\n";
  alerts_beside(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) select 'large', 'k' || n % 50, 'made', "
      "'k' || n % 50 || ' ' || n || repeat(' ', 500000) from generate_series(1, 900) n",
      settings);
}

}  // namespace
}  // namespace spillway::testing
