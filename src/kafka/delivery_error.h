// What an error of librdkafka or of the broker means for a record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ports/sink.h"

namespace spillway::kafka {

enum class Verdict : std::uint8_t {
  kAcknowledged,
  kRefusedRecord,  // this record, or a record of its batch
  kRefusedTopic,   // every record of the topic
  kTopicMissing,
  kLost,  // says nothing about whether it arrived
};

// `code` is an rd_kafka_resp_err_t.
Verdict judge(int code);

// "MSG_SIZE_TOO_LARGE": stable, for counters.
std::string error_name(int code);

// One line for people: the broker's or the library's words, the topic and the record's size. Never key or value.
std::string explain(int code, std::string_view topic, std::size_t bytes);

}  // namespace spillway::kafka
