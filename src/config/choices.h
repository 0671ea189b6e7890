// The closed sets of words that a key may hold. The order of the enumerators is the order of their names.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace spillway::config {

enum class Preset { kNative, kDebezium, kOpenOutbox, kGoOutbox, kGoharvest, kTomorrowOne };
enum class OnRejected { kSetAside, kStopKey };
enum class Delivery { kAtLeastOnce, kExactlyOnce };
enum class KeyWithBacklog { kPromote, kWait };
enum class HoldLive { kOnCollapse, kNever };
enum class Law { kAdaptive, kAimd, kGradient, kFixed, kUnlimited };
enum class SignalKind { kPrometheus, kKafkaLag, kHttpProbe, kPush, kRelay };
enum class Verdict { kPublish, kReconcile, kDiscard };
enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };
enum class LogFormat { kText, kJson };

using Names = std::span<const std::string_view>;

template <typename E>
struct ChoiceNames;

#define SPILLWAY_CHOICES(TYPE, ...)                                                \
  template <>                                                                      \
  struct ChoiceNames<TYPE> {                                                       \
    static constexpr auto kNames = std::to_array<std::string_view>({__VA_ARGS__}); \
  }
SPILLWAY_CHOICES(Preset, "native", "debezium", "open-outbox", "go-outbox", "goharvest", "tomorrow-one");
SPILLWAY_CHOICES(OnRejected, "set_aside", "stop_key");
SPILLWAY_CHOICES(Delivery, "at_least_once", "exactly_once");
SPILLWAY_CHOICES(KeyWithBacklog, "promote", "wait");
SPILLWAY_CHOICES(HoldLive, "on_collapse", "never");
SPILLWAY_CHOICES(Law, "adaptive", "aimd", "gradient", "fixed", "unlimited");
SPILLWAY_CHOICES(SignalKind, "prometheus", "kafka_lag", "http_probe", "push", "relay");
SPILLWAY_CHOICES(Verdict, "publish", "reconcile", "discard");
SPILLWAY_CHOICES(LogLevel, "trace", "debug", "info", "warn", "error");
SPILLWAY_CHOICES(LogFormat, "text", "json");
#undef SPILLWAY_CHOICES

template <typename E>
constexpr Names names_of() {
  return ChoiceNames<E>::kNames;
}

// The word as it stands in the configuration.
template <typename E>
  requires requires { ChoiceNames<E>::kNames; }
constexpr std::string_view to_string(E value) {
  return ChoiceNames<E>::kNames.at(static_cast<std::size_t>(value));
}

}  // namespace spillway::config
