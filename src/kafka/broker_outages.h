// Which brokers are away, out of what librdkafka logs about every attempt to connect, so that people read of an outage
// once and of its end once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::kafka {

enum class BrokerState : std::uint8_t {
  kUp,
  kAway,     // no connection; may end by itself
  kRefuses,  // TLS or authentication failed: somebody has to do something
};

struct BrokerChange {
  std::string broker;  // as configured or advertised: "host:port", with "sasl_ssl://" or the like in front
  BrokerState now = BrokerState::kUp;
  std::string reason;  // librdkafka's words; empty for kUp
};

// What a line of librdkafka's log tells of a broker.
enum class BrokerLine : std::uint8_t {
  kNone,
  kClosed,   // a connection ended between two requests; only the next attempt shows whether that is an outage
  kFailure,  // no connection came about, or requests were lost with it
};

BrokerLine broker_line(int level, std::string_view facility, std::string_view text);

class BrokerOutages {
 public:
  // `text` of a line that is a kFailure. Empty where the same is known already.
  std::optional<BrokerChange> failed(std::string_view text);

  // Brokers by librdkafka's names ("host:port/1"); those that were away are back. A bootstrap address that librdkafka
  // needs no more stays away.
  std::vector<BrokerChange> up(const std::vector<std::string>& names);

 private:
  std::map<std::string, BrokerState, std::less<>> away_;
};

}  // namespace spillway::kafka
