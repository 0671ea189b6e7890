#include "config/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace spillway::config {
namespace {

using std::chrono::nanoseconds;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kDurationUnits = {Unit{"us", 1e3}, Unit{"ms", 1e6},   Unit{"s", 1e9},
                                       Unit{"m", 60e9}, Unit{"h", 3600e9}, Unit{"d", 86400e9}};
constexpr std::array kByteUnits = {Unit{"B", 1}, Unit{"KiB", 1024.0}, Unit{"MiB", 1048576.0},
                                   Unit{"GiB", 1073741824.0}};

constexpr std::string_view kDurationExpected = "a number with us, ms, s, m, h or d, such as 250ms, 5s or 24h";
constexpr std::string_view kBytesExpected = "a number with B, KiB, MiB or GiB, such as 16MiB";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

// Digits with at most one point, a digit on both sides of it, no leading zero before another digit.
std::optional<double> decimal(std::string_view text) {
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  if (!all_digits(whole) || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
  if (point != text.npos && !all_digits(text.substr(point + 1))) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What to write for a spelling that YAML readers turn into other numbers, each in its own way.
std::string spelling_remedy(std::string_view number, std::string_view unit) {
  if (number.find('_') != number.npos) {
    std::string plain(number);
    std::erase(plain, '_');
    if (decimal(plain)) return fmt::format("write {}{}", plain, unit);
  }
  if (number.size() > 1 && number[0] == '0' && all_digits(number)) {
    const auto first = std::min(number.find_first_not_of('0'), number.size() - 1);
    return fmt::format("write {}{}, without the leading zero: some readers take it for an octal number",
                       number.substr(first), unit);
  }
  return {};
}

std::optional<int> sexagesimal_seconds(std::string_view text) {
  int total = 0;
  int parts = 0;
  while (true) {
    const auto colon = text.find(':');
    const auto part = text.substr(0, colon);
    if (!all_digits(part) || part.size() > 3 || ++parts > 3) return std::nullopt;
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    total = total * 60 + value;
    if (colon == text.npos) break;
    text.remove_prefix(colon + 1);
  }
  return parts > 1 ? std::optional(total) : std::nullopt;
}

struct Split {
  std::string_view number;
  std::string_view unit;
};

Split split(std::string_view text) {
  const auto end = std::min(text.find_first_not_of("0123456789._"), text.size());
  return {text.substr(0, end), text.substr(end)};
}

std::string units_remedy(std::string_view number, std::string_view unit, std::span<const Unit> units) {
  const auto trimmed = unit.substr(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const Unit& known : units) {
    const bool same = std::ranges::equal(
        trimmed, known.name, {}, [](char c) { return std::tolower(c); }, [](char c) { return std::tolower(c); });
    if (same) return fmt::format("write {}{}", number, known.name);
  }
  return {};
}

Read<double> with_unit(std::string_view text, std::span<const Unit> units, std::string_view noun,
                       std::string_view expected) {
  const auto [number, unit] = split(text);
  const auto fault = [&](std::string problem, std::string remedy) {
    return std::unexpected(
        Misread{.problem = std::move(problem), .expected = std::string(expected), .remedy = std::move(remedy)});
  };
  if (number.empty()) return fault(fmt::format("is not {}", noun), {});
  if (unit.empty()) return fault("has no unit", spelling_remedy(number, units[units.size() / 2].name));
  const auto known = std::ranges::find(units, unit, &Unit::name);
  if (known == units.end()) return fault("has an unknown unit", units_remedy(number, unit, units));
  const auto value = decimal(number);
  if (!value) return fault(fmt::format("is not {}", noun), spelling_remedy(number, unit));
  return *value * known->factor;
}

}  // namespace

Read<base::Duration> parse_duration(std::string_view text) {
  if (const auto seconds = sexagesimal_seconds(text)) {
    return std::unexpected(Misread{.problem = "is not a duration",
                                   .expected = std::string(kDurationExpected),
                                   .remedy = fmt::format("for minutes and seconds write {}s", *seconds)});
  }
  const auto value = with_unit(text, kDurationUnits, "a duration", kDurationExpected);
  if (!value) return std::unexpected(value.error());
  if (*value > 100 * 365 * 86400e9) {
    return std::unexpected(Misread{.problem = "is too long", .expected = "at most 36500d", .out_of_range = true});
  }
  return nanoseconds(std::llround(*value));
}

Read<Bytes> parse_bytes(std::string_view text) {
  auto value = with_unit(text, kByteUnits, "a size", kBytesExpected);
  if (!value) {
    const auto [number, unit] = split(text);
    if (value.error().remedy.empty() && (unit == "KB" || unit == "kB" || unit == "K" || unit == "k")) {
      value.error().remedy = fmt::format("write {}KiB", number);
    } else if (value.error().remedy.empty() && (unit == "MB" || unit == "M" || unit == "GB" || unit == "G")) {
      value.error().remedy = fmt::format("write {}{}iB", number, unit[0]);
    }
    return std::unexpected(value.error());
  }
  if (*value > 9e18 || *value != std::floor(*value)) {
    return std::unexpected(
        Misread{.problem = "is not a whole number of bytes", .expected = std::string(kBytesExpected)});
  }
  return Bytes{static_cast<std::uint64_t>(*value)};
}

Read<Ratio> parse_ratio(std::string_view text) {
  Misread misread{.problem = "is not a share", .expected = "a percentage, such as 2%"};
  const bool percent = text.ends_with('%');
  const auto value = decimal(percent ? text.substr(0, text.size() - 1) : text);
  if (!value) return std::unexpected(misread);
  if (percent) return Ratio{*value / 100};
  misread.problem = "has no percent sign";
  misread.remedy = *value < 1 ? fmt::format("write {}% for that share", format_number(*value * 100))
                              : fmt::format("write {}%", format_number(*value));
  return std::unexpected(misread);
}

Read<double> parse_number(std::string_view text) {
  if (const auto value = decimal(text)) return *value;
  return std::unexpected(Misread{
      .problem = "is not a number", .expected = "a decimal number, such as 50", .remedy = spelling_remedy(text, "")});
}

Read<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (decimal(text) && error == std::errc{} && end == text.data() + text.size()) return value;
  return std::unexpected(Misread{.problem = "is not a whole number",
                                 .expected = "digits only, such as 20000",
                                 .remedy = spelling_remedy(text, "")});
}

Read<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return std::tolower(c); });
  Misread misread{.problem = "is neither true nor false", .expected = "true or false"};
  for (const std::string_view word : {"yes", "on", "y", "true", "1"}) {
    if (lower == word) misread.remedy = "write true";
  }
  for (const std::string_view word : {"no", "off", "n", "false", "0"}) {
    if (lower == word) misread.remedy = "write false";
  }
  return std::unexpected(misread);
}

Read<ListenAddress> parse_listen(std::string_view text) {
  const Misread misread{.problem = "is not an address to listen on",
                        .expected = "HOST:PORT, such as 127.0.0.1:8787 or [::1]:8787"};
  const auto colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return std::unexpected(misread);
  auto host = text.substr(0, colon);
  const auto port_text = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return std::unexpected(misread);
  }
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  const bool whole = error == std::errc{} && end == port_text.data() + port_text.size() && all_digits(port_text);
  if (host.empty() || host.find_first_of(" /@[]") != host.npos || !whole) return std::unexpected(misread);
  return ListenAddress{std::string(host), port};
}

std::string format_duration(base::Duration value) {
  if (value == base::Duration::zero()) return "0s";
  const auto count = value.count();
  for (const auto& [name, size] : {std::pair{"h", 3'600'000'000'000},
                                   {"m", 60'000'000'000},
                                   {"s", 1'000'000'000},
                                   {"ms", 1'000'000},
                                   {"us", 1'000}}) {
    if (count % size == 0) return fmt::format("{}{}", count / size, name);
  }
  return fmt::format("{:.3f}us", static_cast<double>(count) / 1e3);
}

std::string format_bytes(Bytes value) {
  for (const auto& [name, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}) {
    const std::uint64_t size = std::uint64_t{1} << shift;
    if (value.count != 0 && value.count % size == 0) return fmt::format("{}{}", value.count >> shift, name);
  }
  return fmt::format("{}B", value.count);
}

std::string format_ratio(Ratio value) { return fmt::format("{}%", format_number(value.value * 100)); }

std::string format_number(double value) {
  // Twelve digits hide the last bit that a percentage loses on its way through a fraction, and no more.
  return fmt::format("{:.12g}", value);
}

std::string format_listen(const ListenAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(const ListenAddress& address) {
  return address.host == "::1" || address.host == "localhost" ||
         (address.host.starts_with("127.") && std::ranges::count(address.host, '.') == 3 &&
          address.host.find_first_not_of("0123456789.") == std::string::npos);
}

}  // namespace spillway::config
