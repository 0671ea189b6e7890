#include "status/text.h"

#include <fmt/format.h>

#include "status/governor_view.h"
#include "status/words.h"

namespace spillway::status {
namespace {

constexpr const char* kUnknown = "unknown";

template <typename T, typename Words>
std::string or_unknown(const std::optional<T>& value, Words words) {
  return value ? words(*value) : kUnknown;
}

class Page {
 public:
  explicit Page(Colour colour) : colour_(colour) {}

  void heading(const std::string& text) { text_ += paint("1", text) + "\n"; }
  void cause(const Status& status) {
    const bool page = !status.alerts.empty() && status.alerts.front().severity == Severity::kPage;
    text_ += paint(page ? "1;31" : status.alerts.empty() ? "32" : "33", status.cause) + "\n";
  }
  void alert(const Alert& alert) {
    const bool page = alert.severity == Severity::kPage;
    text_ += fmt::format("  {} {}: {}\n", paint(page ? "1;31" : "33", page ? "!!" : "! "), alert.name, alert.summary);
  }
  void governor(const Status& status);
  void line(const char* name, const std::string& value) { text_ += fmt::format("{:<12}{}\n", name, one_line(value)); }
  void gap() { text_ += "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return colour_ == Colour::kTerminal ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }

  Colour colour_;
  std::string text_;
};

std::string backlog_words(const Status& status) {
  if (!status.backlog.events) return kUnknown;
  std::string text = (status.backlog.estimated ? "about " : "") + counted(*status.backlog.events, "event");
  if (*status.backlog.events == 0) return text;
  if (status.backlog.oldest_age_s) text += "   oldest " + span_words(*status.backlog.oldest_age_s);
  if (status.backlog.bytes) text += "   about " + bytes_words(*status.backlog.bytes);
  return text;
}

std::string rates_words(const Rates& rates) {
  std::string text = fmt::format("arrival {}   published {}", or_unknown(rates.arrival, rate_words),
                                 or_unknown(rates.published, rate_words));
  if (rates.live) text += "   live " + rate_words(*rates.live);
  if (rates.promoted) text += "   promoted " + rate_words(*rates.promoted);
  if (rates.backlog) text += "   backlog " + rate_words(*rates.backlog);
  return text;
}

std::string eta_words(const Eta& eta) {
  if (!eta.seconds) return eta.reason;
  if (*eta.seconds == 0) return "0 s (" + eta.reason + ")";
  std::string range;
  if (eta.low) {
    range = fmt::format(" ({} to {})", span_words(*eta.low), eta.high ? span_words(*eta.high) : "perhaps never");
  }
  return fmt::format("{}{}; {}", span_words(*eta.seconds), range, eta.reason);
}

std::string relay_words(const Status& status) {
  if (!status.relay) {
    switch (status.condition) {
      case RelayCondition::kNone: return "none";
      case RelayCondition::kFrozen: return "frozen";
      default:
        return status.subject.relay_no_answer.empty() ? "not asked" : "no answer: " + status.subject.relay_no_answer;
    }
  }
  const LiveFigures& relay = *status.relay;
  return fmt::format("{}   loop turned {} ago   {} in flight, {}",
                     loop_frozen(status) ? "frozen" : relay::to_string(relay.state), span_words(relay.turn_age_s),
                     counted(relay.in_flight, "event"), bytes_words(relay.in_flight_bytes));
}

std::string lease_words(const ports::Figures& figures) {
  if (!figures.lease) return "nobody holds it";
  if (figures.lease->lease.holder == base::Uuid{}) return fmt::format("free   epoch {}", figures.lease->lease.epoch);
  const double left = std::chrono::duration<double>(figures.lease->expires_in).count();
  return fmt::format("{}   epoch {}   {}", figures.lease->holder_name, figures.lease->lease.epoch,
                     left > 0 ? "for another " + span_words(left) : "ran out " + span_words(-left) + " ago");
}

std::string governor_words(const GovernorView& governor) {
  std::string text = fmt::format("{}, {}", governor.law, governor.state);
  if (governor.capacity) text += "   capacity " + rate_words(*governor.capacity);
  if (governor.live_demand) text += "   live asks for " + rate_words(*governor.live_demand);
  if (governor.others) text += "   others take " + rate_words(*governor.others);
  if (governor.budget) text += "   backlog may use " + rate_words(*governor.budget);
  if (governor.live_cap) text += "   live is held to " + rate_words(*governor.live_cap);
  return governor.reason.empty() ? text : text + "; " + governor.reason;
}

std::string signal_words(const SignalView& signal) {
  const auto ms = [](double value) { return fmt::format("{:.0f} ms", value); };
  const bool lags = signal.lag_ms && !signal.p99_ms;
  std::string text =
      fmt::format("{}: {}   {} {} (ceiling {})   errors {}   {}", signal.name, signal.state, lags ? "lag" : "p99",
                  or_unknown(signal.measure_ms(), ms), signal.ceiling_ms ? ms(*signal.ceiling_ms) : "none",
                  or_unknown(signal.error_rate, [](double r) { return fmt::format("{:.1f} %", r * 100); }),
                  signal.age_s ? span_words(*signal.age_s) + " old" : "never spoke");
  return signal.trouble.empty() ? text : text + "; " + signal.trouble;
}

std::string live_words(const Status& status) {
  std::string text;
  if (status.live.events) {
    text = counted(*status.live.events, "event");
    if (*status.live.events > 0) text += "   oldest " + or_unknown(status.live.oldest_age_s, span_words);
  }
  const std::int64_t behind = status.store.figures ? status.store.figures->behind_their_key : 0;
  if (behind == 0) return text;
  return fmt::format("{}{}{} behind the backlog of their key", text, text.empty() ? "" : "   ", count_words(behind));
}

std::string settled_words(const ports::Figures& figures) {
  std::string text = fmt::format("{} open", count_words(figures.open_settlements));
  if (figures.oldest_open_age_s) text += ", the oldest for " + span_words(*figures.oldest_open_age_s);
  return fmt::format("{}   {} published, {} discarded, {} reconciled so far", text, count_words(figures.published),
                     count_words(figures.discarded), count_words(figures.reconciled));
}

std::string pause_words(const ports::Pause& pause) {
  if (!pause.all && !pause.backlog) return "no";
  return fmt::format("{}{}{}", pause.all ? "everything" : "the backlog", pause.who.empty() ? "" : " by " + pause.who,
                     pause.reason.empty() ? "" : ": " + pause.reason);
}

void Page::governor(const Status& status) {
  line("governor", governor_words(status.governor));
  if (status.store.figures && status.store.figures->limit) {
    line("override", override_words(*status.store.figures->limit, status.governor.held_at));
  }
  for (const SignalView& signal : status.signals) line("signal", signal_words(signal));
}

}  // namespace

std::string governor_text(const Status& status, Colour colour) {
  Page page(colour);
  page.governor(status);
  if (status.store.figures && !status.store.figures->limit) page.line("override", "none");
  return page.take();
}

std::string to_text(const Status& status, Colour colour) {
  Page page(colour);
  page.heading(fmt::format("outbox {}   {}", status.subject.outbox, status.subject.store));
  page.cause(status);
  for (const Alert& alert : status.alerts) page.alert(alert);
  page.gap();
  page.line("backlog", backlog_words(status));
  if (const std::string live = live_words(status); !live.empty()) page.line("live", live);
  page.line("rates", rates_words(status.rates));
  page.line("eta", eta_words(status.eta));
  page.line("relay", relay_words(status));
  page.governor(status);
  if (const auto& figures = status.store.figures) {
    page.line("lease", lease_words(*figures));
    page.line("progress", figures->progress_age_s ? "saved " + span_words(*figures->progress_age_s) + " ago" : "never");
    page.line("set aside", settled_words(*figures));
    page.line("paused", pause_words(figures->pause));
    page.line("figures", status.store.age_s < 1 ? "just read" : "read " + span_words(status.store.age_s) + " ago");
  }
  return page.take();
}

}  // namespace spillway::status
