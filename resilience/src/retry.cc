#include "spillway/resilience/retry.h"

#include <array>
#include <charconv>

namespace spillway::resilience {

std::optional<SettingError> RetrySettings::first_error() const {
  std::optional<SettingError> own = SettingCheck("retry")
                                        .whole("attempts", attempts, 1, 10'000)
                                        .time("total_time", total_time, Duration(1), kLongestTime)
                                        .first_error();
  return own ? own : backoff.first_error();
}

RetryAnswer plan_retry(const RetrySettings& settings, const RetryQuestion& question, double u) noexcept {
  const Judgement& judgement = question.judgement;
  if (!judgement.retryable) return {.cause = Cause::kNotRetryable};
  if (!question.idempotent && !judgement.never_sent) return {.cause = Cause::kNotIdempotent};
  if (question.attempts >= settings.attempts) return {.cause = Cause::kAttemptsExhausted};
  Duration delay = backoff_delay(settings.backoff, question.attempts, u);
  if (judgement.retry_after) delay = std::max(delay, *judgement.retry_after);
  // Compared without adding: what the other side asks for may be as long as it likes.
  const Duration left = settings.total_time - std::min(settings.total_time, elapsed(question.started, question.now));
  if (delay > left || !question.deadline.fits(question.now, delay)) return {.cause = Cause::kNoTimeLeft};
  return {.again = true, .delay = delay};
}

namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  if (!all_digits(text)) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). The day name is redundant and not checked against the date.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
      text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  const auto day = number(text.substr(5, 2)), year = number(text.substr(12, 4));
  const auto hour = number(text.substr(17, 2)), minute = number(text.substr(20, 2)),
             second = number(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                                         std::chrono::day(*day)};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, std::chrono::sys_seconds wall_now) {
  constexpr auto kMost = std::chrono::duration_cast<std::chrono::seconds>(kLongestTime);
  if (all_digits(text)) {
    std::chrono::seconds::rep seconds = 0;
    for (const char c : text) seconds = std::min(kMost.count(), seconds * 10 + (c - '0'));
    return std::chrono::seconds(seconds);
  }
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp(*date - wall_now, std::chrono::seconds(0), kMost);
}

}  // namespace spillway::resilience
