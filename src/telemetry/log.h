// Structured messages on stderr: a constant sentence, and what varies as fields.
//
//   log.warn("row set aside", {{"id", id}, {"reason", reason}});
//
// Never a payload, never an event's key, never a secret: none of them helps at night and all of them leak.
//
// Threads: any. A call formats and hands over; a thread of the log writes. When its queue is full the oldest messages
// are dropped and counted rather than anybody waiting.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/time.h"

namespace spillway::telemetry {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

class Field {
 public:
  Field(std::string_view name, std::string_view value) : name_(name), value_(value) {}
  Field(std::string_view name, const char* value) : Field(name, std::string_view(value)) {}
  Field(std::string_view name, const std::string& value) : Field(name, std::string_view(value)) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  Field(std::string_view name, T value) : name_(name) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      value_ = static_cast<double>(value);
    } else {
      value_ = static_cast<std::int64_t>(value);
    }
  }

  using Value = std::variant<std::string_view, std::int64_t, double, bool>;
  std::string_view name() const { return name_; }
  const Value& value() const { return value_; }

 private:
  std::string_view name_;
  Value value_;
};

using Fields = std::initializer_list<Field>;

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  std::FILE* out = stderr;
  std::size_t queue = 8192;  // messages
  // Of one sentence at one level, so many pass in each interval; the next that passes has `suppressed=N`.
  std::uint32_t repeats = 10;
  base::Duration interval = std::chrono::seconds(10);
};

class Log {
 public:
  explicit Log(const LogOptions& options);
  // Writes what is queued.
  ~Log();

  void write(LogLevel level, std::string_view message, Fields fields = {});
  void debug(std::string_view message, Fields fields = {}) { write(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, Fields fields = {}) { write(LogLevel::kInfo, message, fields); }
  void warn(std::string_view message, Fields fields = {}) { write(LogLevel::kWarn, message, fields); }
  void error(std::string_view message, Fields fields = {}) { write(LogLevel::kError, message, fields); }

  void set_level(LogLevel level);
  std::uint64_t dropped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What stands in a line behind its time.
std::string text_line(LogLevel level, std::string_view message, Fields fields, std::uint64_t suppressed);
// The members of a JSON object behind its time, without braces.
std::string json_members(LogLevel level, std::string_view message, Fields fields, std::uint64_t suppressed);

}  // namespace spillway::telemetry
