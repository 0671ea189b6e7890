// One librdkafka producer with its event queue. After a fatal error it is given up and another one takes its place.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "base/result.h"
#include "kafka/properties.h"
#include "kafka/wakeup.h"

struct rd_kafka_s;
struct rd_kafka_queue_s;

namespace spillway::kafka {

class Producer {
 public:
  // Returns within milliseconds whatever the brokers do. kMisconfigured where librdkafka refuses the properties.
  static base::Result<std::shared_ptr<Producer>> create(const Properties& properties, std::shared_ptr<Wakeup> wakeup);

  // Joins librdkafka's threads, which may take long (a name lookup that hangs): see give_up.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  rd_kafka_s* handle() const { return handle_; }
  // Delivery reports, errors, statistics and log lines. One thread polls it.
  rd_kafka_queue_s* events() const { return events_; }

  // Drops every record that is not acknowledged yet, without waiting; their reports are in events() soon after.
  void purge();

 private:
  Producer(rd_kafka_s* handle, std::shared_ptr<Wakeup> wakeup);

  std::shared_ptr<Wakeup> wakeup_;
  rd_kafka_s* handle_;
  rd_kafka_queue_s* events_;
};

// Purges the producer and destroys it on a thread of its own, which does not keep the process alive. The future is
// ready once that thread let go of it.
std::future<void> give_up(std::shared_ptr<Producer> producer);

}  // namespace spillway::kafka
