#include "status/alerts.h"

#include <fmt/format.h>

#include <algorithm>

#include "status/cause.h"
#include "status/governor_view.h"
#include "status/words.h"

namespace spillway::status {
namespace {

constexpr double kStuckAfterS = 10;
constexpr double kFiguresStaleS = 15;
// A stall that is just being worked off looks like growth for as long as rates are averaged over.
constexpr double kGrowingAfterS = 15;
constexpr double kLeastHeadroom = 0.1;  // of the key's range
// A downstream whose p99 climbs is let be below this share of its ceiling.
constexpr double kUncomfortable = 0.5;

class Finder {
 public:
  explicit Finder(const Status& status) : status_(status) {}

  std::vector<Alert> find() {
    if (status_.store.figures) {
      owner(*status_.store.figures);
      people(*status_.store.figures);
    }
    store();
    if (status_.relay) relay(*status_.relay);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Alert& a, const Alert& b) { return a.severity > b.severity; });
    return std::move(found_);
  }

 private:
  void add(const char* name, Severity severity, std::string summary) {
    found_.push_back({name, severity, one_line(std::move(summary))});
  }

  void store() {
    if (!status_.store.figures) {
      add("store_unreachable", Severity::kPage, "the store does not answer: " + status_.store.error);
    } else if (status_.store.age_s >= kFiguresStaleS) {
      add("figures_stale", Severity::kWarning,
          fmt::format("what the store said is {} old{}{}", span_words(status_.store.age_s),
                      status_.store.error.empty() ? "" : ": ", status_.store.error));
    }
  }

  void owner(const ports::Figures& figures) {
    const std::string progress = last_progress(status_);
    switch (status_.condition) {
      case RelayCondition::kNone:
        add("no_owner", Severity::kPage,
            fmt::format("no relay owns outbox {}; {}; start one with `spillway run`", status_.subject.outbox,
                        progress));
        break;
      case RelayCondition::kFrozen:
        add("relay_frozen", Severity::kPage,
            loop_frozen(status_) ? fmt::format("the relay's loop did not turn for {}; {}",
                                               span_words(status_.relay->turn_age_s), progress)
                                 : fmt::format("{} holds the lease and does nothing; {}",
                                               figures.lease ? figures.lease->holder_name : "a relay", progress));
        break;
      case RelayCondition::kSilent:
        if (!status_.subject.relay_no_answer.empty()) {
          add("relay_silent", Severity::kWarning,
              fmt::format("the relay does not answer at {}: {}; its figures are unknown", status_.subject.relay_asked,
                          status_.subject.relay_no_answer));
        }
        break;
      case RelayCondition::kAnswering: stale_progress(figures, progress); break;
    }
  }

  void stale_progress(const ports::Figures& figures, const std::string& progress) {
    if (!status_.relay || status_.relay->state != relay::RelayState::kRunning || figures.pause.all) return;
    const double oldest = figures.oldest_age_s.value_or(0);
    if (figures.waiting_rows == 0 || oldest < kStuckAfterS) return;
    if (figures.progress_age_s.value_or(oldest) < kStuckAfterS) return;
    add("progress_stale", Severity::kPage,
        fmt::format("{} and nothing was saved: {}", counted(figures.waiting_rows, "event") + " waiting", progress));
  }

  void people(const ports::Figures& figures) {
    if (figures.pause.all || figures.pause.backlog) {
      add("paused", Severity::kWarning,
          fmt::format("{} paused{}{}; `spillway resume` ends it",
                      figures.pause.all ? "everything is" : "the backlog is",
                      figures.pause.who.empty() ? "" : " by " + figures.pause.who,
                      figures.pause.reason.empty() ? "" : ": " + figures.pause.reason));
    }
    if (figures.limit) {
      add("override_in_force", Severity::kWarning,
          fmt::format("the rate is limited by hand: {}; `spillway governor clear` ends it",
                      override_words(*figures.limit, status_.governor.held_at)));
    }
    if (figures.open_settlements > 0) {
      add("reconcile_waiting", Severity::kWarning,
          fmt::format("{} wait{} for a person{}; see `spillway reconcile list`",
                      counted(figures.open_settlements, "event"), figures.open_settlements == 1 ? "s" : "",
                      figures.oldest_open_age_s ? ", the oldest for " + span_words(*figures.oldest_open_age_s) : ""));
    }
    if (figures.seq_headroom && *figures.seq_headroom < kLeastHeadroom) {
      add("key_space_low", Severity::kWarning,
          fmt::format("only {:.0f} % of the outbox key's range are left", *figures.seq_headroom * 100));
    }
    if (figures.seq_cache > 1) {
      add("key_cache", Severity::kPage,
          fmt::format(
              "the sequence of the outbox hands out {} numbers at once, so that events of one key can go against "
              "their order: alter it to CACHE 1; the next start of a relay is refused",
              figures.seq_cache));
    }
  }

  void relay(const LiveFigures& live) {
    for (const relay::StuckPartition& stuck : live.stuck) {
      if (stuck.seconds < kStuckAfterS) continue;
      add("partition_stuck", Severity::kPage,
          fmt::format("{}{} takes nothing for {}, {} behind it{}{}", stuck.topic,
                      stuck.partition < 0 ? "" : fmt::format("[{}]", stuck.partition), span_words(stuck.seconds),
                      counted(static_cast<std::int64_t>(stuck.waiting), "event"), stuck.reason.empty() ? "" : ": ",
                      stuck.reason));
    }
    if (live.held_by_ahead) {
      add("reading_held", Severity::kPage,
          "reading stopped: limits.ahead events are acknowledged beyond the oldest that is not");
    }
    if (!live.sink_error.empty()) add("broker_unreachable", Severity::kPage, "the broker: " + live.sink_error);
    if (!live.store_error.empty() && status_.store.figures) {
      add("store_unreachable", Severity::kPage, "the relay cannot work on the store: " + live.store_error);
    }
    if (live.state != relay::RelayState::kRunning) return;
    growing(live);
    governor();
    for (const SignalView& signal : live.signals) downstream(signal);
  }

  // Never at the present rate, and not over the last five minutes either, as far as they are known.
  void growing(const LiveFigures& live) {
    const bool paused =
        status_.store.figures && (status_.store.figures->pause.all || status_.store.figures->pause.backlog);
    const bool old = status_.backlog.oldest_age_s.value_or(0) >= kGrowingAfterS;
    const bool lately = !live.net || live.net->high <= 0;
    if (status_.eta.kind != Eta::Kind::kNever || !old || !lately || paused) return;
    add("backlog_growing", Severity::kPage, "the backlog is " + status_.eta.reason);
  }

  void governor() {
    const GovernorView& governor = status_.governor;
    if (governor.live_cap) {
      add("braking", Severity::kPage,
          fmt::format("live traffic is held in the outbox at {}{}; {}", rate_words(*governor.live_cap),
                      status_.live.oldest_age_s ? ", the oldest for " + span_words(*status_.live.oldest_age_s) : "",
                      governor.reason));
    }
    if (governor.state == governor::to_string(governor::State::kBlind)) {
      add("blind", Severity::kWarning, "the governor sees nothing and only goes down: " + governor.reason);
    }
  }

  void downstream(const SignalView& signal) {
    if (!signal.age_s && signal.state == "missing") {
      add("signal_broken", Severity::kPage,
          fmt::format("signal {} has not spoken since the start{}{}", signal.name, signal.trouble.empty() ? "" : ": ",
                      signal.trouble));
    }
    const bool shrinking = status_.eta.kind == Eta::Kind::kKnown && status_.eta.seconds.value_or(0) > 0;
    const auto& measure = signal.measure_ms();
    if (!shrinking || !signal.climb || !measure || !signal.ceiling_ms) return;
    if (*measure <= kUncomfortable * *signal.ceiling_ms) return;
    add("drain_hurts", *measure >= *signal.ceiling_ms ? Severity::kPage : Severity::kWarning,
        fmt::format("the backlog shrinks while {} suffers: its {} rose by {:.0f} % in three minutes to {:.0f} ms "
                    "(ceiling {:.0f} ms); `spillway governor hold` stops the climb",
                    signal.name, signal.p99_ms ? "p99" : "lag", (*signal.climb - 1) * 100, *measure,
                    *signal.ceiling_ms));
  }

  const Status& status_;
  std::vector<Alert> found_;
};

}  // namespace

std::vector<Alert> find_alerts(const Status& status) { return Finder(status).find(); }

}  // namespace spillway::status
