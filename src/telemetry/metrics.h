// The figures that a scrape shows. Fed with plain values by whoever has them; a scrape asks nobody.
//
// One thread. Labels are bounded: never a key, an id, or the text of an error. Unknown figures are absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "governor/decision_log.h"
#include "relay/histogram.h"
#include "relay/relay.h"
#include "status/status.h"
#include "telemetry/process_figures.h"

namespace spillway::telemetry {

enum class Exposition : std::uint8_t { kText, kOpenMetrics };

// By the Accept header: OpenMetrics only where it is asked for at least as much as plain text.
Exposition choose_exposition(std::string_view accept);
const char* content_type(Exposition exposition);

// Counts since the start, in buckets; one more count than bounds.
struct Buckets {
  std::vector<double> bounds{};
  std::vector<std::uint64_t> counts{};
  double sum = 0;

  template <std::size_t N>
  static Buckets of(const relay::Histogram<N>& histogram) {
    return {{histogram.bounds().begin(), histogram.bounds().end()},
            {histogram.counts().begin(), histogram.counts().end()},
            histogram.sum()};
  }
};

enum class PublishFailure : std::uint8_t { kRetriable, kFatal, kTooLarge, kAuth, kTimeout, kRejected };
constexpr int kPublishFailures = 6;

enum class Outcome : std::uint8_t { kOk, kError, kTimeout };

struct BuildInfo {
  std::string version{};
  std::string revision{};
  std::string compiler{};
};

class Metrics {
 public:
  explicit Metrics(BuildInfo build) : build_(std::move(build)) {}

  // `figures_unix_s`: when the store last answered; the figures that need a query are as old as that.
  void status(const status::Status& status, std::optional<double> figures_unix_s);
  // Since the start of the process.
  void relay(const relay::RelayCounters& counters, Buckets publish_seconds, Buckets delay_seconds);
  // One lane's share since the start of the process: "live", "promoted" or "backlog". Where lanes are told apart, all
  // of them are given, and "all" is shown no more.
  void lane(const std::string& lane, std::int64_t published, std::int64_t bytes, Buckets delay_seconds);
  // Since the start of the process.
  void decisions(const governor::DecisionLog::Counts& counts) { decisions_ = counts; }
  // `rule`: from the configuration; `verdict`: publish, reconcile or discard.
  void triaged(const std::string& rule, const std::string& verdict, std::uint64_t total) {
    triaged_[{rule, verdict}] = total;
  }
  void publish_failures(PublishFailure reason, std::uint64_t total) {
    publish_failures_[static_cast<std::size_t>(reason)] = total;
  }
  // `reason`: from a small set of words of our own.
  void took_over(const std::string& reason) { ++takeovers_[reason]; }
  // `dependency` and `operation`: words of our own ("store", "read").
  void called(const std::string& dependency, const std::string& operation, Outcome outcome, base::Duration took);
  void in_flight(const std::string& dependency, std::int64_t calls) { in_flight_[dependency] = calls; }
  void config_loaded(bool successful, double unix_s);
  void log_dropped(std::uint64_t messages) { log_dropped_ = messages; }
  void http_clients(std::size_t clients) { http_clients_ = clients; }

  std::string render(Exposition exposition, const ProcessFigures& process) const;

 private:
  class Page;

  void put_backlog(Page& page) const;
  void put_flow(Page& page) const;
  void put_lanes(Page& page) const;
  void put_people(Page& page) const;
  void put_governor(Page& page) const;
  void put_signals(Page& page) const;
  void put_lease(Page& page) const;
  void put_dependencies(Page& page) const;
  void put_own(Page& page, const ProcessFigures& process) const;

  struct Lane {
    std::int64_t published = 0;
    std::int64_t bytes = 0;
    Buckets delay_seconds;
  };
  struct Calls {
    std::map<Outcome, std::uint64_t> outcomes;
    Buckets seconds;
  };

  BuildInfo build_;
  std::optional<status::Status> status_;
  std::optional<double> figures_unix_s_;
  std::int64_t arrived_ = 0;
  std::optional<relay::RelayCounters> counters_;
  Buckets publish_seconds_;
  Buckets delay_seconds_;
  std::map<std::string, Lane> lanes_;
  governor::DecisionLog::Counts decisions_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> triaged_;
  std::uint64_t publish_failures_[kPublishFailures] = {};
  std::map<std::string, std::uint64_t> takeovers_;
  std::map<std::pair<std::string, std::string>, Calls> calls_;
  std::map<std::string, std::int64_t> in_flight_;
  std::optional<bool> config_successful_;
  std::optional<double> config_success_unix_s_;
  std::uint64_t log_dropped_ = 0;
  std::size_t http_clients_ = 0;
};

}  // namespace spillway::telemetry
