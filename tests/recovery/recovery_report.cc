#include "recovery/recovery_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace spillway::testing {
namespace {

constexpr std::size_t kMeanOver = 5;
constexpr std::size_t kHealthyFor = 10;

template <typename Count>
double highest_mean(const std::vector<SecondSeen>& seconds, double from, double until, Count count) {
  double highest = 0;
  const auto end = std::min(static_cast<std::size_t>(std::max(0.0, until)), seconds.size());
  for (auto i = static_cast<std::size_t>(std::max(0.0, from)); i + kMeanOver <= end; ++i) {
    double sum = 0;
    for (std::size_t k = i; k < i + kMeanOver; ++k) sum += static_cast<double>(count(seconds[k]));
    highest = std::max(highest, sum / kMeanOver);
  }
  return highest;
}

std::string shown(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

}  // namespace

std::optional<double> RecoveryReport::last_backlog() const {
  for (auto said = statuses.rbegin(); said != statuses.rend(); ++said) {
    if (said->backlog) return said->backlog;
  }
  return std::nullopt;
}

double RecoveryReport::highest_backlog_rate(double from, double until) const {
  return highest_mean(seconds, from, until, [](const SecondSeen& s) { return s.sent_backlog; });
}

double RecoveryReport::highest_total_rate(double from, double until) const {
  return highest_mean(seconds, from, until, [](const SecondSeen& s) { return s.sent_backlog + s.sent_live; });
}

std::optional<double> RecoveryReport::healthy_again(double from, double ceiling_s, double live_rate) const {
  for (auto i = static_cast<std::size_t>(from); i + kHealthyFor <= seconds.size(); ++i) {
    double done = 0;
    const bool quiet =
        std::all_of(seconds.begin() + static_cast<std::ptrdiff_t>(i),
                    seconds.begin() + static_cast<std::ptrdiff_t>(i + kHealthyFor), [&](const SecondSeen& s) {
                      done += static_cast<double>(s.done);
                      return s.late == 0 && s.live_p99_s <= ceiling_s;
                    });
    if (quiet && done >= 0.9 * live_rate * kHealthyFor) return static_cast<double>(i);
  }
  return std::nullopt;
}

std::string to_text(const RecoveryReport& r) {
  std::string text =
      fmt::format("{}: clear {} s, ideal {} s, ratio {}, {:.0f} s over the ceiling, worst p99 {:.3f} s\n", r.scenario,
                  shown(r.clear_s), shown(r.ideal_s), shown(r.ratio()), r.seconds_over, r.worst_p99_s);
  text += fmt::format("  lost {}, inversions {}, duplicates {}, given up {}, put into the retry topic {}\n", r.lost,
                      r.inversions, r.duplicates, r.consumer.given_up, r.consumer.sent_to_retry_topic);
  text += fmt::format("  live: p99 {:.1f} ms from commit to append, longest {:.2f} s, on keys with backlog {:.2f} s\n",
                      r.live_p99_s * 1e3, r.longest_hold_s, r.longest_promoted_hold_s);
  text += fmt::format("  {:.3f} attempts an event\n", r.attempts_per_event);
  return text;
}

void write_trace(const RecoveryReport& r, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "second,sent_live,sent_backlog,done,late,p99_s,live_p99_s,bank_waiting,backlog,capacity,budget,state,reason\n";
  auto status = r.statuses.begin();
  for (std::size_t i = 0; i < r.seconds.size(); ++i) {
    const SecondSeen& s = r.seconds[i];
    while (status != r.statuses.end() && status->at < static_cast<double>(i)) ++status;
    const StatusSample said = status == r.statuses.end() ? StatusSample{} : *status;
    out << fmt::format("{},{},{},{},{},{:.4f},{:.4f},{},{},{},{},{},\"{}\"\n", i, s.sent_live, s.sent_backlog, s.done,
                       s.late, s.p99_s, s.live_p99_s, said.bank_waiting, shown(said.backlog), shown(said.capacity),
                       shown(said.budget), said.state, said.reason);
  }
}

}  // namespace spillway::testing
