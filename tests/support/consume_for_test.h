// Offsets committed for a group by librdkafka, as a consumer would commit them.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <string>

namespace spillway::testing {

// Empty: committed; else why not.
inline std::string commit_offset(const std::string& bootstrap, const std::string& group, const std::string& topic,
                                 std::int32_t partition, std::int64_t offset) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256] = "";
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), error, sizeof error);
  rd_kafka_conf_set(conf, "group.id", group.c_str(), error, sizeof error);
  rd_kafka_conf_set(conf, "log_level", "0", error, sizeof error);
  rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (consumer == nullptr) return error;
  rd_kafka_topic_partition_list_t* offsets = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(offsets, topic.c_str(), partition)->offset = offset;
  const rd_kafka_resp_err_t result = rd_kafka_commit(consumer, offsets, 0);
  rd_kafka_topic_partition_list_destroy(offsets);
  rd_kafka_destroy(consumer);
  return result == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : rd_kafka_err2str(result);
}

}  // namespace spillway::testing
