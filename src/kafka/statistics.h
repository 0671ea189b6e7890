// The part of librdkafka's statistics (STATISTICS.md) that steers and is shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::kafka {

// Over the last interval, the worst broker; brokers without traffic do not count.
struct BrokerFigures {
  int brokers_known = 0;
  int brokers_up = 0;
  std::optional<double> rtt_p99_ms;
  double throttle_ms = 0;
};

struct Statistics {
  BrokerFigures brokers;
  std::vector<std::string> up;  // librdkafka's names ("host:port/1"), bootstrap addresses included
};

// Empty where the text is not such statistics. Reads only the part before the topics, which may be long.
std::optional<Statistics> parse_statistics(std::string_view json);

}  // namespace spillway::kafka
