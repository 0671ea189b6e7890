#include "config/kafka_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace spillway::config {
namespace {

bool is_true(std::string_view value) { return value == "true" || value == "t" || value == "1"; }
bool is_false(std::string_view value) { return value == "false" || value == "f" || value == "0"; }

std::optional<long> number(std::string_view value) {
  long result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return result;
}

bool waits_for_all(std::string_view value) { return value == "all" || value == "-1"; }
bool keeps_order_in_flight(std::string_view value) {
  const auto count = number(value);
  return count && *count >= 1 && *count <= 5;
}
bool never_expires(std::string_view value) { return number(value) == 0; }
bool places_as_java(std::string_view value) { return value == "murmur2_random"; }
bool retries_for_ever(std::string_view value) { return number(value) == 2147483647; }
bool never(std::string_view) { return false; }

struct Rule {
  std::string_view name;
  bool (*safe)(std::string_view value);
  std::string_view safe_value;
  std::string_view breaks;
};

constexpr std::string_view kAcks =
    "a record is lost when the one broker that has it fails: nothing lost would not hold";
constexpr std::string_view kInFlight = "a retry could overtake a later batch: order per key would not hold";
constexpr std::string_view kExpiry =
    "a record that expires in the queue is skipped: order per key and nothing lost would not hold";
constexpr std::string_view kRetries = "a record that runs out of retries is skipped: order per key would not hold";

constexpr std::array kRules = {
    Rule{"enable.idempotence", is_true, "true",
         "retries could duplicate and reorder records: order per key would not hold"},
    Rule{"acks", waits_for_all, "all", kAcks},
    Rule{"request.required.acks", waits_for_all, "all", kAcks},
    Rule{"max.in.flight.requests.per.connection", keeps_order_in_flight, "1 to 5", kInFlight},
    Rule{"max.in.flight", keeps_order_in_flight, "1 to 5", kInFlight},
    Rule{"message.timeout.ms", never_expires, "0", kExpiry},
    Rule{"delivery.timeout.ms", never_expires, "0", kExpiry},
    Rule{"retries", retries_for_ever, "2147483647", kRetries},
    Rule{"message.send.max.retries", retries_for_ever, "2147483647", kRetries},
    Rule{"partitioner", places_as_java, "murmur2_random",
         "a key would move to another partition than Java clients use: order per key would not hold"},
    Rule{"delivery.report.only.error", is_false, "false", "the relay would never learn that a record is safe"},
    Rule{"transactional.id", never, "", "the relay manages transactions itself: see delivery"},
};

}  // namespace

std::optional<Misread> check_property(std::string_view name, std::string_view value) {
  const auto rule = std::ranges::find(kRules, name, &Rule::name);
  if (rule == kRules.end() || rule->safe(value)) return {};
  return Misread{.problem = "may not be set so",
                 .expected = std::string(rule->safe_value),
                 .remedy = fmt::format("leave it out; {}", rule->breaks)};
}

bool is_secret_property(std::string_view name) {
  constexpr std::array<std::string_view, 8> kMarks = {"password", "passphrase",         "secret",     "key.pem", "jaas",
                                                      "token",    "oauthbearer.config", "private.key"};
  // Where to fetch a token, or where a key lies, is no secret.
  if (name.ends_with(".location") || name.ends_with(".url") || name.ends_with(".file")) return false;
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return name.find(mark) != name.npos; });
}

}  // namespace spillway::config
