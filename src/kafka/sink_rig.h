// A KafkaSink as tests drive it: sends, waits for its descriptor, gathers what it reports.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kafka/kafka_sink.h"
#include "ports/stored_record.h"
#include "support/topic_reader.h"

namespace spillway::kafka {

class SinkRig {
 public:
  explicit SinkRig(const std::string& bootstrap, Properties more = {}, std::size_t records = 20'000)
      : settings_{.properties = {{"bootstrap.servers", bootstrap}}, .records = records} {
    std::ranges::move(more, std::back_inserter(settings_.properties));
    settings_.broker_change = [this](const BrokerChange& change) { broker_changes.push_back(change); };
    auto made = KafkaSink::create(settings_);
    if (!made) throw std::runtime_error(made.error().message);
    sink_ = std::move(*made);
  }

  KafkaSink& sink() { return *sink_; }
  void destroy() { sink_.reset(); }

  void wait(int milliseconds = 20) {
    pollfd ready{.fd = sink_->event_fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, milliseconds);
  }

  void drain() {
    ports::SinkEvents now;
    sink_->drain(now);
    rebuilds += now.rebuilt ? 1 : 0;
    if (now.rebuilt) rebuilt_reasons.push_back(now.rebuilt_reason);
    std::ranges::move(now.deliveries, std::back_inserter(deliveries));
    topics.insert(topics.end(), now.topics.begin(), now.topics.end());
  }

  template <typename Done>
  [[nodiscard]] bool until(Done done, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto give_up = std::chrono::steady_clock::now() + limit;
    drain();
    while (!done()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      wait();
      drain();
    }
    return true;
  }

  ports::TopicId ready(const std::string& name) {
    const ports::TopicId id = sink_->topic_id(name);
    EXPECT_TRUE(until([&] { return sink_->topic(id).state == ports::TopicState::kReady; })) << name;
    return id;
  }

  // Drains while the sink is full.
  ports::SendOutcome send(const ports::Record& record, std::uint64_t token) {
    ports::SendOutcome outcome = sink_->send(record, token);
    while (outcome == ports::SendOutcome::kFull || outcome == ports::SendOutcome::kPartitionFull) {
      wait();
      drain();
      outcome = sink_->send(record, token);
    }
    return outcome;
  }

  [[nodiscard]] bool settled() {
    return until([&] { return sink_->outstanding() == 0; });
  }

  std::size_t count(ports::DeliveryOutcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count(deliveries, outcome, &ports::Delivery::outcome));
  }

  std::vector<ports::Delivery> deliveries;
  std::vector<ports::TopicId> topics;
  std::vector<std::string> rebuilt_reasons;
  std::vector<BrokerChange> broker_changes;
  int rebuilds = 0;

 private:
  KafkaSinkSettings settings_;
  std::unique_ptr<KafkaSink> sink_;
};

// In the order of each partition, oldest first.
inline std::vector<ports::StoredRecord> read_topic(const std::string& bootstrap, const std::string& topic) {
  std::vector<ports::StoredRecord> records;
  for (testing::TopicRecord& record : testing::TopicReader(bootstrap).read_all(topic)) {
    ports::StoredRecord stored{.topic = topic,
                               .partition = record.partition,
                               .key = std::move(record.key),
                               .value = std::move(record.value),
                               .unix_millis = record.timestamp_ms};
    for (auto& [name, value] : record.headers) stored.headers.emplace_back(name, value.value_or("(null)"));
    records.push_back(std::move(stored));
  }
  return records;
}

}  // namespace spillway::kafka
