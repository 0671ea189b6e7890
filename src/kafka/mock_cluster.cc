#include "kafka/mock_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <stdexcept>

namespace spillway::kafka {
namespace {

constexpr std::int16_t kProduceRequest = 0;

}  // namespace

struct MockCluster::Parts {
  rd_kafka_t* host;  // the mock needs a client to live in
  rd_kafka_mock_cluster_t* cluster;
};

MockCluster::MockCluster(int brokers) : brokers_(brokers) {
  std::array<char, 512> text{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "log_level", "3", text.data(), text.size());
  rd_kafka_t* host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
  if (host == nullptr) throw std::runtime_error(text.data());
  parts_ = std::make_unique<Parts>(Parts{host, rd_kafka_mock_cluster_new(host, brokers)});
  bootstrap_ = rd_kafka_mock_cluster_bootstraps(parts_->cluster);
}

MockCluster::~MockCluster() {
  rd_kafka_mock_cluster_destroy(parts_->cluster);
  rd_kafka_destroy(parts_->host);
}

void MockCluster::create_topic(const std::string& name, int partitions) {
  rd_kafka_mock_topic_create(parts_->cluster, name.c_str(), partitions, 1);
}

void MockCluster::fail_topic(const std::string& name, int code) {
  rd_kafka_mock_topic_set_error(parts_->cluster, name.c_str(), static_cast<rd_kafka_resp_err_t>(code));
}

void MockCluster::set_reachable(bool reachable) {
  for (std::int32_t broker = 1; broker <= brokers_; ++broker) {
    if (reachable) {
      rd_kafka_mock_broker_set_up(parts_->cluster, broker);
    } else {
      rd_kafka_mock_broker_set_down(parts_->cluster, broker);
    }
  }
}

void MockCluster::set_round_trip_ms(int milliseconds) {
  for (std::int32_t broker = 1; broker <= brokers_; ++broker) {
    rd_kafka_mock_broker_set_rtt(parts_->cluster, broker, milliseconds);
  }
}

void MockCluster::fail_produce_requests(const std::vector<int>& codes) {
  for (const int code : codes) {
    rd_kafka_mock_push_request_errors(parts_->cluster, kProduceRequest, 1, static_cast<rd_kafka_resp_err_t>(code));
  }
}

}  // namespace spillway::kafka
