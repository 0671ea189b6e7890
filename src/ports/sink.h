// Where records go. Calls never block; results arrive through `drain`.
//
// Threads: one thread owns a sink, all calls come from it.
// The contract suite in contract/sink_contract.h runs on every implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::ports {

using TopicId = std::uint32_t;

enum class TopicState : std::uint8_t {
  kResolving,  // not known yet, or the broker does not answer
  kReady,
  kMissing,  // the broker answers and says that it does not exist
  kRefused,  // it can never be written to as things are: bad name, no right to write
};

struct Topic {
  TopicState state = TopicState::kResolving;
  std::int32_t partitions = 0;  // kReady only
  std::string reason;           // kMissing, kRefused: one line for people
};

struct Header {
  std::string_view name;
  std::string_view value;
};

// Copied by `send`; the views need to live only that long.
struct Record {
  TopicId topic = 0;
  std::int32_t partition = 0;
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> value = {};
  std::span<const Header> headers = {};
  std::int64_t unix_millis = 0;
};

enum class SendOutcome : std::uint8_t {
  kQueued,         // exactly one Delivery with this token follows
  kFull,           // nothing more fits, whatever its partition: try again after the next drain
  kPartitionFull,  // this partition takes no more until one of its records is delivered; others do
  kNotReady,       // the topic is not kReady, or has no such partition (any more): look at topic() again
  kRejected,       // this record can never be sent; see last_reason()
};

enum class DeliveryOutcome : std::uint8_t {
  kAcknowledged,  // by all in-sync replicas
  kRejected,      // the broker refuses this record for good
  kUnknown,       // may or may not have arrived: send it again
  kTopicMissing,  // not written: its topic or partition is gone
};

struct Delivery {
  std::uint64_t token = 0;
  DeliveryOutcome outcome = DeliveryOutcome::kAcknowledged;
  std::string reason;  // empty for kAcknowledged
};

struct SinkEvents {
  std::vector<Delivery> deliveries;  // per partition in the order of sending
  std::vector<TopicId> topics;       // whose state or number of partitions changed
  // The producer was rebuilt after a fatal error: every record not yet acknowledged came back as kUnknown, in this
  // call.
  bool rebuilt = false;
  std::string rebuilt_reason;

  void clear() {
    deliveries.clear();
    topics.clear();
    rebuilt = false;
    rebuilt_reason.clear();
  }
};

class Sink {
 public:
  virtual ~Sink() = default;

  // A small number for a topic name, the same for ever. Asking starts finding out about the topic.
  virtual TopicId topic_id(std::string_view name) = 0;
  virtual const Topic& topic(TopicId id) const = 0;
  virtual const std::string& topic_name(TopicId id) const = 0;

  // The partition where every Java producer would put this key (murmur2); without a key a random one. kReady topics
  // only.
  virtual std::int32_t partition_for(TopicId id, std::optional<std::string_view> key) = 0;

  virtual SendOutcome send(const Record& record, std::uint64_t token) = 0;
  // One line for people about the last kRejected; it never holds a key, a value or a header.
  virtual const std::string& last_reason() const = 0;

  // Records sent whose delivery has not been handed over by `drain` yet.
  virtual std::size_t outstanding() const = 0;

  // Appends what happened since the last call.
  virtual void drain(SinkEvents& events) = 0;
};

}  // namespace spillway::ports
