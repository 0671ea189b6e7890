#include "kafka/delivery_error.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

namespace spillway::kafka {

Verdict judge(int code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: return Verdict::kAcknowledged;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION: return Verdict::kRefusedRecord;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE: return Verdict::kRefusedTopic;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return Verdict::kTopicMissing;
    default: return Verdict::kLost;
  }
}

std::string error_name(int code) { return rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)); }

std::string explain(int code, std::string_view topic, std::size_t bytes) {
  return fmt::format("topic {} does not take a record of {} bytes: {} ({})", topic, bytes,
                     rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(code)), error_name(code));
}

}  // namespace spillway::kafka
