#include "sqlite/created_at.h"

#include <chrono>
#include <limits>
#include <optional>

namespace spillway::sqlite {
namespace {

// Reads from the front of what is left; a failed read leaves the text as it was.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  bool done() const { return left_.empty(); }

  bool skip(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  std::optional<int> digits(std::size_t count) {
    if (left_.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (left_[i] < '0' || left_[i] > '9') return std::nullopt;
      value = value * 10 + (left_[i] - '0');
    }
    left_.remove_prefix(count);
    return value;
  }

  // Digits after the point as microseconds; further ones are cut off. None at all is an error.
  std::optional<std::int64_t> fraction() {
    std::int64_t micros = 0;
    std::int64_t unit = 100'000;
    bool any = false;
    while (auto digit = digits(1)) {
      micros += *digit * unit;
      unit /= 10;
      any = true;
    }
    return any ? std::optional(micros) : std::nullopt;
  }

 private:
  std::string_view left_;
};

std::optional<std::chrono::sys_days> date(Scanner& scanner) {
  const auto year = scanner.digits(4);
  if (!year || !scanner.skip('-')) return std::nullopt;
  const auto month = scanner.digits(2);
  if (!month || !scanner.skip('-')) return std::nullopt;
  const auto day = scanner.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day parsed{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
  if (!parsed.ok()) return std::nullopt;
  return std::chrono::sys_days(parsed);
}

std::optional<std::int64_t> clock_micros(Scanner& scanner) {
  const auto hour = scanner.digits(2);
  if (!hour || *hour > 23 || !scanner.skip(':')) return std::nullopt;
  const auto minute = scanner.digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t micros = (*hour * 60 + *minute) * 60'000'000LL;
  if (scanner.skip(':')) {
    const auto second = scanner.digits(2);
    if (!second || *second > 60) return std::nullopt;
    micros += *second * 1'000'000LL;
    if (scanner.skip('.')) {
      const auto fraction = scanner.fraction();
      if (!fraction) return std::nullopt;
      micros += *fraction;
    }
  }
  return micros;
}

std::optional<std::int64_t> offset_micros(Scanner& scanner) {
  scanner.skip(' ');
  if (scanner.done() || scanner.skip('Z') || scanner.skip('z')) return 0;
  const bool plus = scanner.skip('+');
  if (!plus && !scanner.skip('-')) return std::nullopt;
  const auto hours = scanner.digits(2);
  scanner.skip(':');
  const auto minutes = scanner.done() ? std::optional(0) : scanner.digits(2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t micros = (*hours * 60 + *minutes) * 60'000'000LL;
  return plus ? micros : -micros;
}

}  // namespace

model::Timestamp created_at_from_millis(std::int64_t millis) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
  if (millis > kMost) return {model::Timestamp::Kind::kInfinity};
  if (millis < -kMost) return {model::Timestamp::Kind::kMinusInfinity};
  return model::Timestamp::at(millis * 1000);
}

model::Timestamp created_at_from_text(std::string_view text) {
  Scanner scanner(text);
  const auto day = date(scanner);
  if (!day) return {};
  std::int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(day->time_since_epoch()).count();
  if (scanner.skip('T') || scanner.skip('t') || scanner.skip(' ')) {
    const auto clock = clock_micros(scanner);
    if (!clock) return {};
    const auto offset = offset_micros(scanner);
    if (!offset) return {};
    micros += *clock - *offset;
  }
  return scanner.done() ? model::Timestamp::at(micros) : model::Timestamp{};
}

}  // namespace spillway::sqlite
