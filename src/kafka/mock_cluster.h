// librdkafka's brokers inside this process, for tests, demonstrations and rehearsals. No compression, no size limits,
// no quotas; a partition keeps the last 5 MiB or 100,000 records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spillway::kafka {

class MockCluster {
 public:
  explicit MockCluster(int brokers = 1);
  ~MockCluster();
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  // "127.0.0.1:41234,…" for bootstrap.servers.
  const std::string& bootstrap() const { return bootstrap_; }

  // Topics are created on request too, with four partitions.
  void create_topic(const std::string& name, int partitions);
  // `code` is an rd_kafka_resp_err_t that metadata requests report for this topic; 0 = none.
  void fail_topic(const std::string& name, int code);
  void set_reachable(bool reachable);  // all brokers
  void set_round_trip_ms(int milliseconds);
  // The next produce requests, to any broker, are answered with these rd_kafka_resp_err_t.
  void fail_produce_requests(const std::vector<int>& codes);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  int brokers_;
  std::string bootstrap_;
};

}  // namespace spillway::kafka
