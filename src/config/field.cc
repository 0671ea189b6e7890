#include "config/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "config/key_table.h"
#include "config/nearest.h"

namespace spillway::config {
namespace {

template <typename T>
struct Unwrapped {
  using Type = T;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

template <typename T>
Read<T> parse(std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    return parse_bool(text);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return parse_count(text);
  } else if constexpr (std::is_same_v<T, double>) {
    return parse_number(text);
  } else if constexpr (std::is_same_v<T, Rate>) {
    const auto number = parse_number(text);
    if (!number) return std::unexpected(number.error());
    return Rate{*number};
  } else if constexpr (std::is_same_v<T, Duration>) {
    return parse_duration(text);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return parse_bytes(text);
  } else if constexpr (std::is_same_v<T, Ratio>) {
    return parse_ratio(text);
  } else if constexpr (std::is_same_v<T, ListenAddress>) {
    return parse_listen(text);
  } else {
    static_assert(std::is_same_v<T, std::string>);
    return std::string(text);
  }
}

std::string write(bool value) { return value ? "true" : "false"; }
std::string write(std::int64_t value) { return fmt::format("{}", value); }
std::string write(double value) { return format_number(value); }
std::string write(Rate value) { return format_number(value.per_second); }
std::string write(Duration value) { return format_duration(value); }
std::string write(Bytes value) { return format_bytes(value); }
std::string write(Ratio value) { return format_ratio(value); }
std::string write(const std::string& value) { return value; }
std::string write(const ListenAddress& value) { return format_listen(value); }

// The number that a range speaks about; nothing for what has no order.
std::optional<double> magnitude(std::int64_t value) { return static_cast<double>(value); }
std::optional<double> magnitude(double value) { return value; }
std::optional<double> magnitude(Rate value) { return value.per_second; }
std::optional<double> magnitude(Duration value) { return base::seconds(value); }
std::optional<double> magnitude(Bytes value) { return static_cast<double>(value.count); }
std::optional<double> magnitude(Ratio value) { return value.value; }
std::optional<double> magnitude(bool) { return std::nullopt; }
std::optional<double> magnitude(const std::string&) { return std::nullopt; }
std::optional<double> magnitude(const ListenAddress&) { return std::nullopt; }

template <typename T>
std::string write_bound(double bound) {
  if constexpr (std::is_same_v<T, Duration>) {
    return format_duration(Duration(std::llround(bound * 1e9)));
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return format_bytes(Bytes{static_cast<std::uint64_t>(bound)});
  } else if constexpr (std::is_same_v<T, Ratio>) {
    return format_ratio(Ratio{bound});
  } else {
    return fmt::format("{:.15g}", bound);
  }
}

template <typename T>
std::string bounds(const Range& range) {
  const bool no_high = std::isinf(range.high);
  if (no_high && range.above_low) return fmt::format("above {}", write_bound<T>(range.low));
  if (no_high) return range.low > 0 ? fmt::format("at least {}", write_bound<T>(range.low)) : "";
  return fmt::format("{}{} to {}", range.above_low ? "above " : "", write_bound<T>(range.low),
                     write_bound<T>(range.high));
}

template <typename T>
std::optional<Misread> check_range(const T& value, const Range& range) {
  const auto size = magnitude(value);
  if (!size) return {};
  if (*size > range.low || (*size == range.low && !range.above_low)) {
    if (*size <= range.high) return {};
  }
  return Misread{.problem = *size > range.high ? "is too large" : "is too small",
                 .expected = bounds<T>(range),
                 .out_of_range = true};
}

struct Assign {
  std::string_view text;
  const KeySpec& spec;

  template <typename T>
  std::optional<Misread> operator()(T* member) const {
    using Value = typename Unwrapped<T>::Type;
    if constexpr (!std::is_same_v<T, Value>) {
      if (!spec.none.empty() && text == spec.none) {
        *member = std::nullopt;
        return {};
      }
    }
    auto value = parse<Value>(text);
    if (!value) {
      if (!spec.none.empty()) value.error().expected += fmt::format("; or {}", spec.none);
      return value.error();
    }
    if (auto misread = check_range(*value, spec.range)) return misread;
    if (spec.check != nullptr) {
      if (auto misread = spec.check(text)) return misread;
    }
    *member = std::move(*value);
    return {};
  }

  std::optional<Misread> operator()(const ChoiceRef& choice) const {
    const auto found = std::ranges::find(choice.names, text);
    if (found != choice.names.end()) {
      choice.set(choice.member, static_cast<int>(found - choice.names.begin()));
      return {};
    }
    return Misread{.problem = "is not one of its choices",
                   .expected = fmt::format("{}", fmt::join(choice.names, ", ")),
                   .nearest = nearest(text, choice.names)};
  }

  std::optional<Misread> operator()(const SingleUrl& single) const {
    if (auto misread = spec.check(text)) return misread;
    *single.urls = {std::string(text)};
    return {};
  }
};

struct Write {
  const KeySpec& spec;

  template <typename T>
  std::string operator()(T* member) const {
    if constexpr (std::is_same_v<T, typename Unwrapped<T>::Type>) {
      return write(*member);
    } else {
      return *member ? write(**member) : std::string(spec.none);
    }
  }
  std::string operator()(const ChoiceRef& choice) const {
    return std::string(choice.names[static_cast<std::size_t>(choice.get(choice.member))]);
  }
  std::string operator()(const SingleUrl& single) const { return single.urls->empty() ? "" : single.urls->front(); }
};

struct TypeName {
  std::string_view operator()(const Scalar& scalar) const { return std::visit(*this, scalar); }
  std::string_view operator()(const Collection& collection) const { return std::visit(*this, collection); }
  std::string_view operator()(bool*) const { return "true or false"; }
  std::string_view operator()(std::int64_t*) const { return "whole number"; }
  std::string_view operator()(double*) const { return "number"; }
  std::string_view operator()(Rate*) const { return "events per second"; }
  std::string_view operator()(std::optional<Rate>*) const { return "events per second"; }
  std::string_view operator()(Duration*) const { return "duration"; }
  std::string_view operator()(std::optional<Duration>*) const { return "duration"; }
  std::string_view operator()(Bytes*) const { return "size"; }
  std::string_view operator()(Ratio*) const { return "percentage"; }
  std::string_view operator()(std::optional<Ratio>*) const { return "percentage"; }
  std::string_view operator()(std::string*) const { return "text"; }
  std::string_view operator()(std::optional<ListenAddress>*) const { return "HOST:PORT"; }
  std::string_view operator()(const ChoiceRef&) const { return "choice"; }
  std::string_view operator()(const SingleUrl&) const { return "URL"; }
  std::string_view operator()(std::vector<std::string>*) const { return "list"; }
  std::string_view operator()(std::map<std::string, std::string>*) const { return "names"; }
  std::string_view operator()(KafkaConfig*) const { return "properties"; }
  std::string_view operator()(std::vector<SignalConfig>*) const { return "list"; }
  std::string_view operator()(std::vector<TriageRule>*) const { return "list"; }
};

struct RangeText {
  const Range& range;

  template <typename T>
  std::string operator()(T*) const {
    return bounds<typename Unwrapped<T>::Type>(range);
  }
  std::string operator()(const ChoiceRef& choice) const { return fmt::format("{}", fmt::join(choice.names, ", ")); }
  std::string operator()(const SingleUrl&) const { return {}; }
};

}  // namespace

std::optional<Misread> assign(const Scalar& member, std::string_view text, const KeySpec& spec) {
  return std::visit(Assign{text, spec}, member);
}

std::string format(const Scalar& member, const KeySpec& spec) { return std::visit(Write{spec}, member); }

std::string_view type_name(const Field& member) { return std::visit(TypeName{}, member); }

std::string range_text(const KeySpec& spec, const Scalar& member) { return std::visit(RangeText{spec.range}, member); }

}  // namespace spillway::config
