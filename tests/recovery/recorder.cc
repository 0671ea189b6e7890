#include "recovery/recorder.h"

#include <algorithm>
#include <cmath>

#include "recovery/event_names.h"

namespace spillway::testing {
namespace {

constexpr double kLongestRunS = 24 * 3600;

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(q * static_cast<double>(values.size()))) - 1;
  const auto at = values.begin() + std::max<std::ptrdiff_t>(0, rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double quantile_of_ticks(std::vector<double> values, double q, double tick) {
  if (values.empty()) return 0;
  const double at = quantile(values, q);
  const auto below = std::ranges::count_if(values, [&](double value) { return value < at - tick / 2; });
  const auto equal = std::ranges::count_if(values, [&](double value) { return std::abs(value - at) <= tick / 2; });
  const double rank = q * static_cast<double>(values.size()) - static_cast<double>(below);
  return std::max(0.0, at - tick / 2 + tick * rank / static_cast<double>(equal));
}

std::uint64_t Recorder::tag_of(const bank::Record& record) {
  const auto name = event_name(record.id);
  return name && name->live ? 1 : 0;
}

// Nothing for what happened before the origin, or at no sensible time.
Recorder::Second* Recorder::second_at(double since_origin) {
  if (since_origin < 0 || since_origin > kLongestRunS) return nullptr;
  const auto index = static_cast<std::size_t>(since_origin);
  if (index >= seconds_.size()) seconds_.resize(index + 1);
  return &seconds_[index];
}

void Recorder::on_answer(const bank::Answer& answer) {
  const std::lock_guard lock(mutex_);
  Second* second = second_at(base::seconds(answer.at - origin_));
  if (second == nullptr) return;
  (answer.outcome == bank::Outcome::kDone ? second->seen.done : second->seen.late) += 1;
  if (answer.outcome == bank::Outcome::kRefused) return;
  const double latency = base::seconds(answer.latency);
  second->latencies.push_back(latency);
  if (answer.tag == 1) second->live_latencies.push_back(latency);
}

void Recorder::on_delivery(const bank::Record& record, bool first) {
  const auto name = event_name(record.id);
  if (!first || !name) return;
  const std::lock_guard lock(mutex_);
  if (name->live) live_appended_ms_.emplace(name->number, record.timestamp_ms);
  Second* second = second_at(static_cast<double>(record.timestamp_ms - origin_ms_) / 1e3);
  if (second != nullptr) (name->live ? second->seen.sent_live : second->seen.sent_backlog) += 1;
}

void Recorder::on_done(const bank::Record& record, base::Instant at) {
  const auto name = event_name(record.id);
  if (!name || name->live) return;
  const std::lock_guard lock(mutex_);
  if (!backlog_done_.insert(name->number).second) return;
  last_backlog_done_s_ = std::max(last_backlog_done_s_, base::seconds(at - origin_));
}

std::int64_t Recorder::backlog_done() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(backlog_done_.size());
}

double Recorder::last_backlog_done_s() const { return last_backlog_done_s_; }

std::vector<SecondSeen> Recorder::seconds(std::size_t count) const {
  std::vector<SecondSeen> found(count);
  for (std::size_t i = 0; i < std::min(count, seconds_.size()); ++i) {
    found[i] = seconds_[i].seen;
    found[i].p99_s = quantile(seconds_[i].latencies, 0.99);
    found[i].live_p99_s = quantile(seconds_[i].live_latencies, 0.99);
  }
  return found;
}

std::optional<std::int64_t> Recorder::live_appended_ms(std::int64_t number) const {
  const auto at = live_appended_ms_.find(number);
  if (at == live_appended_ms_.end()) return std::nullopt;
  return at->second;
}

}  // namespace spillway::testing
