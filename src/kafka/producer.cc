#include "kafka/producer.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdint>
#include <thread>
#include <utility>

namespace spillway::kafka {
namespace {

constexpr std::uint64_t kOne = 1;

}  // namespace

base::Result<std::shared_ptr<Producer>> Producer::create(const Properties& properties, std::shared_ptr<Wakeup> wakeup) {
  base::Result<rd_kafka_conf_t*> conf = make_conf(properties);
  if (!conf) return std::unexpected(conf.error());
  rd_kafka_conf_set_events(*conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG);
  std::array<char, 512> text{};
  rd_kafka_conf_set(*conf, "log.queue", "true", text.data(), text.size());
  rd_kafka_t* handle = rd_kafka_new(RD_KAFKA_PRODUCER, *conf, text.data(), text.size());
  if (handle == nullptr) {
    rd_kafka_conf_destroy(*conf);
    return base::fail(base::ErrorClass::kMisconfigured, fmt::format("kafka: {}", text.data()));
  }
  return std::shared_ptr<Producer>(new Producer(handle, std::move(wakeup)));
}

Producer::Producer(rd_kafka_s* handle, std::shared_ptr<Wakeup> wakeup)
    : wakeup_(std::move(wakeup)), handle_(handle), events_(rd_kafka_queue_get_main(handle)) {
  rd_kafka_queue_io_event_enable(events_, wakeup_->fd(), &kOne, sizeof kOne);
  rd_kafka_set_log_queue(handle_, nullptr);
}

Producer::~Producer() {
  rd_kafka_queue_io_event_enable(events_, -1, nullptr, 0);
  rd_kafka_queue_destroy(events_);
  rd_kafka_destroy(handle_);
}

void Producer::purge() {
  rd_kafka_purge(handle_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

std::future<void> give_up(std::shared_ptr<Producer> producer) {
  producer->purge();
  std::promise<void> gone;
  std::future<void> future = gone.get_future();
  std::thread([mine = std::move(producer), done = std::move(gone)]() mutable {
    mine.reset();
    done.set_value();
  }).detach();
  return future;
}

}  // namespace spillway::kafka
