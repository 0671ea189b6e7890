// Finds out about topics on a thread of its own, because asking a broker blocks.
//
// A topic is asked about at once, every second or so while it is missing (slower after a minute), every minute when it
// is known. Asking also primes librdkafka, whose first record of a topic would otherwise wait for up to a second, and
// creates the topic where the broker creates topics on request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/producer.h"
#include "kafka/wakeup.h"
#include "ports/sink.h"

namespace spillway::kafka {

// What the broker says about a topic.
struct TopicNews {
  ports::TopicId id = 0;
  ports::Topic topic;
  // The topic's max.message.bytes; empty where the broker does not tell (no right to describe configurations).
  std::optional<std::int64_t> max_message_bytes;
  bool compacted = false;  // keyless records are refused
};

class TopicDirectory {
 public:
  explicit TopicDirectory(std::shared_ptr<Wakeup> wakeup);
  // Waits for a question under way for at most a second; a thread that hangs beyond that is left behind.
  ~TopicDirectory();
  TopicDirectory(const TopicDirectory&) = delete;
  TopicDirectory& operator=(const TopicDirectory&) = delete;

  // From now on asks through this producer, about every topic anew; nullptr stops asking. Answers to the one before are
  // dropped. The caller still holds that one, so that it is not destroyed here.
  void use(std::shared_ptr<Producer> producer);

  void watch(ports::TopicId id, std::string name);
  void ask_again(ports::TopicId id);

  // Answers since the last call, also unchanged ones. The wakeup is signalled when there are some.
  std::vector<TopicNews> take();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace spillway::kafka
