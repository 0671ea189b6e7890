#include "spillway/resilience/deadline_header.h"

#include <charconv>

namespace spillway::resilience {

using std::chrono::milliseconds;

std::optional<DeadlineText> deadline_to_header(Deadline deadline, Instant now) noexcept {
  if (deadline.is_none()) return std::nullopt;
  DeadlineText text;
  const auto left = std::chrono::floor<milliseconds>(deadline.remaining(now)).count();
  const auto [end, error] = std::to_chars(text.digits_.data(), text.digits_.data() + text.digits_.size(), left);
  text.size_ = static_cast<std::size_t>(end - text.digits_.data());
  return text;
}

namespace {

struct ReaderSettings {
  Duration longest;
  std::optional<SettingError> first_error() const {
    return SettingCheck("deadline_reader").time("longest", longest, milliseconds(1), kLongestTime).first_error();
  }
};

}  // namespace

DeadlineReader::DeadlineReader(Duration longest) : longest_(checked(ReaderSettings{longest}).longest) {}

Deadline DeadlineReader::read(std::optional<std::string_view> header, Instant now) noexcept {
  if (!header) return Deadline::none();
  const std::int64_t most = std::chrono::floor<milliseconds>(longest_).count();
  std::int64_t value = 0;
  bool well_formed = !header->empty();
  for (const char c : *header) {
    well_formed = well_formed && c >= '0' && c <= '9';
    if (!well_formed) break;
    // Held at `most` digit by digit, so no number of digits can overflow.
    value = std::min(most, value * 10 + (c - '0'));
  }
  if (!well_formed) {
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return Deadline::none();
  }
  return Deadline::after(now, milliseconds(value));
}

}  // namespace spillway::resilience
