#include "kafka/statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spillway::kafka {
namespace {

// brokers / NAME / (nodeid | state | rtt / (cnt | p99) | throttle / (cnt | max)); stops at "topics".
class BrokerReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Statistics statistics;
  bool seen_brokers = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  bool string(string_t& value) override {
    if (in_broker(3) && path_.back() == "state") up_ = value == "UP";
    return true;
  }

  bool start_object(std::size_t) override {
    path_.emplace_back();
    if (in_broker(3) && path_.size() == 3) start_broker();
    return true;
  }

  bool key(string_t& name) override {
    path_.back() = name;
    if (path_.size() == 1 && name == "brokers") seen_brokers = true;
    return !(path_.size() == 1 && name == "topics");
  }

  bool end_object() override {
    if (in_broker(3) && path_.size() == 3) end_broker();
    path_.pop_back();
    return true;
  }

 private:
  bool in_broker(std::size_t depth) const { return path_.size() == depth && path_.front() == "brokers"; }

  void start_broker() {
    node_ = -1;
    up_ = false;
    rtt_count_ = rtt_p99_us_ = throttle_count_ = throttle_max_ms_ = 0;
  }

  bool number(double value) {
    if (in_broker(3) && path_[2] == "nodeid") node_ = value;
    if (!in_broker(4)) return true;
    if (path_[2] == "rtt" && path_[3] == "cnt") rtt_count_ = value;
    if (path_[2] == "rtt" && path_[3] == "p99") rtt_p99_us_ = value;
    if (path_[2] == "throttle" && path_[3] == "cnt") throttle_count_ = value;
    if (path_[2] == "throttle" && path_[3] == "max") throttle_max_ms_ = value;
    return true;
  }

  // Bootstrap entries and the coordinator's logical broker have no node id.
  void end_broker() {
    if (up_) statistics.up.push_back(path_[1]);
    if (node_ < 0) return;
    BrokerFigures& figures = statistics.brokers;
    ++figures.brokers_known;
    if (up_) ++figures.brokers_up;
    if (rtt_count_ > 0) figures.rtt_p99_ms = std::max(figures.rtt_p99_ms.value_or(0), rtt_p99_us_ / 1000);
    if (throttle_count_ > 0) figures.throttle_ms = std::max(figures.throttle_ms, throttle_max_ms_);
  }

  std::vector<std::string> path_;
  double node_ = -1;
  bool up_ = false;
  double rtt_count_ = 0;
  double rtt_p99_us_ = 0;
  double throttle_count_ = 0;
  double throttle_max_ms_ = 0;
};

}  // namespace

std::optional<Statistics> parse_statistics(std::string_view json) {
  BrokerReader reader;
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  if (!reader.seen_brokers) return std::nullopt;
  return reader.statistics;
}

}  // namespace spillway::kafka
