// A few records by librdkafka, for the tests of the test services.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>

namespace spillway::testing {

inline std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> make_producer(const std::string& bootstrap) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256];
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), error, sizeof error);
  rd_kafka_conf_set(conf, "enable.idempotence", "true", error, sizeof error);
  rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", error, sizeof error);
  rd_kafka_conf_set(conf, "log_level", "0", error, sizeof error);
  return {rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error), &rd_kafka_destroy};
}

// True when everything is acknowledged within `limit_ms`.
inline bool produce(rd_kafka_t* producer, const std::string& topic, const std::string& key, const std::string& value,
                    int limit_ms = 20000) {
  const auto error =
      rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_KEY(key.data(), key.size()),
                        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
  EXPECT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR);
  return rd_kafka_flush(producer, limit_ms) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace spillway::testing
