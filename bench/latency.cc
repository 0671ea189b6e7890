#include "bench/latency.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace spillway::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Arrivals {
 public:
  Arrivals(const std::string& bootstrap, const std::string& topic, std::size_t events) : at_(events) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char why[256];
    for (const auto& [name, value] : {std::pair{"bootstrap.servers", bootstrap.c_str()},
                                      {"group.id", "bench"},
                                      {"fetch.wait.max.ms", "100"},
                                      {"socket.nagle.disable", "true"}}) {
      if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK) throw std::runtime_error(why);
    }
    consumer_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_poll_set_consumer(consumer_);
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(6);
    for (int partition = 0; partition < 6; ++partition) {
      rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_assign(consumer_, list);
    rd_kafka_topic_partition_list_destroy(list);
    thread_ = std::thread([this] { read(); });
  }
  ~Arrivals() {
    thread_.join();
    rd_kafka_consumer_close(consumer_);
    rd_kafka_destroy(consumer_);
  }

  const std::vector<Clock::time_point>& wait() {
    thread_.join();
    thread_ = std::thread([] {});
    return at_;
  }

 private:
  void read() {
    const auto limit = Clock::now() + std::chrono::seconds(60);
    for (std::size_t seen = 0; seen < at_.size() && Clock::now() < limit;) {
      rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer_, 100);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        at_[std::stoul(std::string(static_cast<const char*>(message->payload), message->len))] = Clock::now();
        ++seen;
      }
      rd_kafka_message_destroy(message);
    }
  }

  rd_kafka_t* consumer_ = nullptr;
  std::vector<Clock::time_point> at_;
  std::thread thread_;
};

}  // namespace

Latency measure_latency(const std::string& uri, const std::string& bootstrap, const std::string& topic, int rate,
                        int seconds) {
  const auto events = static_cast<std::size_t>(rate) * static_cast<std::size_t>(seconds);
  Arrivals arrivals(bootstrap, topic, events);
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(uri.c_str()), PQfinish);
  std::vector<Clock::time_point> committed(events);
  const auto start = Clock::now();
  for (std::size_t i = 0; i < events; ++i) {
    std::this_thread::sleep_until(start + std::chrono::microseconds(1'000'000 / rate) * static_cast<int>(i));
    const std::string sql = fmt::format(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('{}', 'k{}', 'made', '{}')",
        topic, i % 1'000, i);
    PQclear(PQexec(connection.get(), sql.c_str()));
    committed[i] = Clock::now();
  }
  const auto& arrived = arrivals.wait();
  std::vector<double> ms;
  for (std::size_t i = events / 10; i < events; ++i) {  // the first tenth warms up
    if (arrived[i] != Clock::time_point{}) {
      ms.push_back(std::max(0.0, std::chrono::duration<double, std::milli>(arrived[i] - committed[i]).count()));
    }
  }
  if (ms.size() < events / 2) throw std::runtime_error("the events did not arrive");
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms[ms.size() * 99 / 100]};
}

}  // namespace spillway::bench
