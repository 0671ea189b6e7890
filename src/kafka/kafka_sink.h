// The Sink that publishes to Apache Kafka by librdkafka.
//
// One thread owns it. It polls event_fd() for reading and then calls drain(); nothing blocks on brokers, and no
// callback runs on another thread. The callbacks of the settings run inside drain().
//
// Order: within a partition records are written in the order of sending. A record comes back as kUnknown only together
// with everything else outstanding (`rebuilt`), whatever the cause: a fatal error, a time-out the user configured, or a
// batch that the broker refused as a whole. That producer sends nothing more, and the next one starts empty.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kafka/broker_outages.h"
#include "kafka/delivery_error.h"
#include "kafka/outstanding.h"
#include "kafka/producer.h"
#include "kafka/properties.h"
#include "kafka/statistics.h"
#include "kafka/topic_directory.h"
#include "kafka/wakeup.h"
#include "ports/sink.h"
#include "spillway/resilience/backoff.h"

struct rd_kafka_op_s;
struct rd_kafka_topic_s;

namespace spillway::kafka {

struct LogLine {
  int level;  // as syslog: 3 error, 4 warning, 5 notice, 6 info, 7 debug
  std::string_view facility;
  std::string_view text;
};

struct KafkaSinkSettings {
  Properties properties;
  std::size_t records = 20'000;                      // outstanding at most
  std::size_t bytes = 16U << 20;                     // outstanding at most; one larger record passes when it is alone
  std::chrono::milliseconds destructor_limit{2000};  // for librdkafka's threads to end; beyond, they are left behind
  std::function<void(const LogLine&)> log{};         // may be empty; the receiver limits the rate
  // May be empty. Outages of brokers come here, once each, and not as lines of the log. Needs librdkafka's statistics,
  // which are on unless the properties turn them off: without them no broker comes back.
  std::function<void(const BrokerChange&)> broker_change{};
};

// Counters since the start, gauges as of the last drain.
struct KafkaFigures {
  std::size_t outstanding_records = 0;
  std::size_t outstanding_bytes = 0;
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t rejected = 0;  // by the sink itself or by the broker
  std::uint64_t unknown = 0;
  std::uint64_t topic_missing = 0;
  std::uint64_t rebuilds = 0;
  BrokerFigures brokers;
  std::map<std::string, std::uint64_t> errors;  // by librdkafka's name: "_TRANSPORT", "MSG_SIZE_TOO_LARGE"
  std::string last_error;                       // one line for people
};

class KafkaSink final : public ports::Sink {
 public:
  // kMisconfigured where librdkafka refuses the properties. Brokers may be away.
  static base::Result<std::unique_ptr<KafkaSink>> create(KafkaSinkSettings settings);

  // Drops what is outstanding. Takes at most a second for a question under way, and then destructor_limit.
  ~KafkaSink() override;

  int event_fd() const { return wakeup_->fd(); }

  ports::TopicId topic_id(std::string_view name) override;
  const ports::Topic& topic(ports::TopicId id) const override { return topics_.at(id).topic; }
  const std::string& topic_name(ports::TopicId id) const override { return topics_.at(id).name; }
  std::int32_t partition_for(ports::TopicId id, std::optional<std::string_view> key) override;
  ports::SendOutcome send(const ports::Record& record, std::uint64_t token) override;
  const std::string& last_reason() const override { return last_reason_; }
  std::size_t outstanding() const override { return outstanding_.size(); }
  void drain(ports::SinkEvents& events) override;

  KafkaFigures figures() const;

  // Makes the next drain find a fatal error, as a broker that lost its memory causes it. For drills and tests.
  void provoke_fatal_error(const std::string& reason);

 private:
  struct Load {
    std::size_t records = 0;
    std::size_t bytes = 0;
  };

  struct Entry {
    std::string name;
    ports::Topic topic;
    rd_kafka_topic_s* handle = nullptr;  // of the present producer, made by the first send
    std::optional<std::int64_t> max_bytes;
    bool compacted = false;
    // While a refused batch is tried again record by record: how many are left.
    std::size_t one_by_one = 0;
    std::vector<Load> load;  // by partition
  };

  KafkaSink(KafkaSinkSettings settings, std::shared_ptr<Wakeup> wakeup, std::shared_ptr<Producer> producer);

  bool refused_here(const Entry& entry, const ports::Record& record);
  bool partition_full(const Entry& entry, const Load& load, std::size_t bytes) const;
  ports::SendOutcome produce(Entry& entry, const ports::Record& record, Outstanding::Slot slot);
  ports::SendOutcome not_produced(int code, Entry& entry, const Outstanding::Entry& record);

  void take_news();
  void serve(ports::SinkEvents& events);
  void serve_event(rd_kafka_op_s* event, ports::SinkEvents& events);
  void serve_log(rd_kafka_op_s* event);
  void serve_statistics(std::string_view json);
  void serve_reports(rd_kafka_op_s* event, ports::SinkEvents& events);
  void break_with(Verdict verdict, int code, Outstanding::Slot slot, std::size_t batch);
  ports::Delivery not_written(Verdict verdict, const Outstanding::Entry& record, int code);
  std::string fatal_error() const;  // empty = none
  Outstanding::Entry take(Outstanding::Slot slot);
  void note_error(int code, std::string text);
  void change(ports::TopicId id, ports::Topic topic);
  void doubt(ports::TopicId id);

  void rebuild(ports::SinkEvents& events);
  void start_producer();
  void release_handles();

  KafkaSinkSettings settings_;
  bool compresses_;
  std::size_t batch_bytes_;
  std::shared_ptr<Wakeup> wakeup_;
  std::shared_ptr<Producer> producer_;  // empty while a new one could not be made
  std::unique_ptr<TopicDirectory> directory_;
  std::vector<std::future<void>> given_up_;

  std::vector<Entry> topics_;
  std::map<std::string, ports::TopicId, std::less<>> ids_;
  std::vector<ports::TopicId> changed_;
  Outstanding outstanding_;
  std::string last_reason_;
  std::string broken_;  // why the producer has to go; empty = it works
  std::chrono::steady_clock::time_point next_start_;
  resilience::Backoff start_backoff_;
  std::uint64_t random_;
  KafkaFigures figures_;
  BrokerOutages outages_;
};

}  // namespace spillway::kafka
