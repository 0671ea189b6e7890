#include "app/reconcile_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/exit_status.h"
#include "console/selection.h"
#include "console/settled_json.h"
#include "model/timestamp.h"
#include "status/words.h"

namespace spillway::app {
namespace {

using status::counted;
using status::one_line;
using status::span_words;

std::int64_t unix_micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string ago(std::int64_t unix_micros) {
  return span_words(static_cast<double>(unix_micros_now() - unix_micros) / 1e6) + " ago";
}

std::string time_words(std::int64_t unix_micros) {
  return fmt::format("{} ({})", model::to_string(model::Timestamp::at(unix_micros)), ago(unix_micros));
}

base::Result<ports::SettlementFilter> filter_of(const SelectionOptions& options) {
  auto ids = console::parse_ids(options.ids);
  if (!ids) return std::unexpected(ids.error());
  ports::SettlementFilter filter{
      .ids = std::move(*ids), .rule = options.rule, .type = options.type, .up_to_seq = options.up_to};
  if (!options.before.empty()) {
    const auto before = console::parse_before(options.before, unix_micros_now());
    if (!before) return base::fail(before.error().error_class, "--before: " + before.error().message);
    filter.before_unix_micros = *before;
  }
  return filter;
}

bool narrows(const SelectionOptions& options) {
  return !options.ids.empty() || !options.rule.empty() || !options.type.empty() || !options.before.empty() ||
         options.up_to;
}

void print_table(const std::vector<model::Settlement>& events, std::ostream& out) {
  out << fmt::format("{:<36}  {:<16}  {:<10}  {:<24}  {}\n", "ID", "SINCE", "VERDICT", "TYPE", "REASON");
  for (const model::Settlement& event : events) {
    out << fmt::format("{:<36}  {:<16}  {:<10}  {:<24}  {}\n", base::to_string(event.id), ago(event.since_unix_micros),
                       model::to_string(event.verdict), one_line(event.type),
                       one_line(event.rule.empty() ? event.reason : event.rule + ": " + event.reason));
  }
}

// The event with this id, open or not. Empty where nothing is recorded; the message is said.
struct Found {
  model::Settlement event{};
  model::Page page{};
};
base::Result<std::optional<Found>> find(const std::string& text, ports::OperatorSession& session) {
  const auto ids = console::parse_ids({text});
  if (!ids) return std::unexpected(ids.error());
  auto events = session.settlements({.ids = *ids, .open_only = false});
  if (!events) return std::unexpected(events.error());
  if (events->empty()) return std::nullopt;
  auto page = session.settled_row(ids->front());
  if (!page) return std::unexpected(page.error());
  return Found{std::move(events->front()), std::move(*page)};
}

std::string state_words(const model::Settlement& event) {
  switch (event.state) {
    case model::SettlementState::kOpen: return "waits for a person";
    case model::SettlementState::kReleased: return "will be sent by the relay";
    case model::SettlementState::kDone: return "settled";
  }
  return "unknown";
}

void print_row(const model::Row& row, bool payload, std::ostream& out) {
  out << "created     " << model::to_string(row.created_at) << '\n';
  if (row.headers) out << "headers     " << one_line(std::string(*row.headers)) << '\n';
  if (!payload) return;
  out << "payload\n" << row.payload.value_or("(none: a tombstone)") << '\n';
}

void print_event(const Found& found, bool payload, std::ostream& out) {
  const model::Settlement& event = found.event;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out << fmt::format("{:<12}{}\n", name, one_line(value));
  };
  line("id", base::to_string(event.id));
  line("verdict", fmt::format("{} ({})", model::to_string(event.verdict), state_words(event)));
  line("reason", event.reason);
  line("rule", event.rule);
  line("by", event.who);
  line("since", time_words(event.since_unix_micros));
  line("type", event.type);
  line("topic", event.topic);
  line("key", event.key.value_or("(none)"));
  line("bytes", status::count_words(event.bytes));
  if (found.page.rows.empty()) {
    line("row", "no longer in the outbox");
  } else {
    print_row(found.page.rows.front(), payload, out);
  }
}

void show(const Found& found, const ReconcileShowOptions& options, std::ostream& out) {
  if (options.json) {
    out << console::event_json(found.event, found.page, options.payload);
  } else {
    print_event(found, options.payload, out);
  }
}

// An event that nothing is recorded for.
void show(const ports::Whereabouts& found, const ReconcileShowOptions& options, std::ostream& out) {
  const model::Row& row = found.page.rows.front();
  if (options.json) {
    out << console::row_json(row, found.waiting ? "waiting" : "published", options.payload);
    return;
  }
  const auto line = [&](const char* name, const std::string& value) {
    out << fmt::format("{:<12}{}\n", name, one_line(value));
  };
  line("id", base::to_string(row.id));
  line("state", found.waiting ? "waits to be sent, or was sent in the last moments" : "published");
  line("type", std::string(row.type));
  line("aggregate", fmt::format("{} {}", row.aggregate_type, row.aggregate_id.value_or("(none)")));
  print_row(row, options.payload, out);
}

// One `reconcile publish` or `discard`.
class Act {
 public:
  Act(const ReconcileActOptions& options, model::Verdict verdict, ports::OperatorSession& session, std::ostream& out,
      std::ostream& err)
      : options_(options), verdict_(verdict), session_(session), out_(out), err_(err) {}

  int run() {
    if (!narrows(options_.selection) && !options_.selection.all) {
      err_ << fmt::format("say which events to {}: their ids, a selection by --rule, --type or --before, or --all\n",
                          word());
      return kExitWrongUsage;
    }
    const auto filter = filter_of(options_.selection);
    if (!filter) return failed(filter.error(), err_);
    const auto shown = console::preview(session_, *filter);
    if (!shown) return failed(shown.error(), err_);
    if (shown->events.empty()) return nothing();
    if (const auto refusal = unconfirmed(*shown)) return *refusal;
    const auto changed = console::resolve(session_, *filter, *shown, verdict_, options_.reason, options_.who);
    if (!changed) return failed(changed.error(), err_);
    report(*shown, *changed);
    return kExitDone;
  }

 private:
  const char* word() const { return model::to_string(verdict_); }

  int nothing() {
    err_ << "no open event is selected; nothing was changed\n";
    return kExitFailed;
  }

  void print_preview(const console::Preview& shown) {
    err_ << fmt::format("{}, set aside from {} to {}, up to seq {}{}\n", counted(shown.count(), "event"),
                        ago(*shown.oldest_unix_micros), ago(*shown.newest_unix_micros), *shown.up_to_seq(),
                        shown.more ? "; there are more: these are as many as can be changed at once" : "");
  }

  std::optional<int> unconfirmed(const console::Preview& shown) {
    if (!options_.selection.ids.empty() && !options_.confirm) return missing_ids(shown);
    print_preview(shown);
    std::optional<std::int64_t> confirmed = options_.confirm;
    if (!confirmed && options_.answers != nullptr) {
      err_ << fmt::format("type {} to {} them: ", shown.count(), word()) << std::flush;
      std::string line;
      std::getline(*options_.answers, line);
      if (line == std::to_string(shown.count())) confirmed = shown.count();
      if (!confirmed) {
        err_ << "nothing was changed\n";
        return kExitFailed;
      }
    }
    if (!confirmed) {
      err_ << fmt::format("nothing was changed; add --up-to {} --confirm {} to {} exactly these\n", *shown.up_to_seq(),
                          shown.count(), word());
      return kExitWrongUsage;
    }
    if (*confirmed == shown.count()) return std::nullopt;
    err_ << fmt::format("{} were confirmed and {} are selected; nothing was changed\n", *confirmed, shown.count());
    return kExitFailed;
  }

  // All or none: a list of ids in which one is wrong is not the list that was meant.
  std::optional<int> missing_ids(const console::Preview& shown) {
    std::string missing;
    for (const std::string& id : options_.selection.ids) {
      const auto is = [&](const model::Settlement& event) { return event.id == *base::parse_uuid(id); };
      if (std::none_of(shown.events.begin(), shown.events.end(), is)) missing += (missing.empty() ? "" : ", ") + id;
    }
    if (missing.empty()) return std::nullopt;
    err_ << "not open, or not there: " << missing << "; nothing was changed\n";
    return kExitFailed;
  }

  void report(const console::Preview& shown, std::int64_t changed) {
    if (options_.json) {
      nlohmann::ordered_json json = {{"changed", changed}, {"verdict", word()}, {"ids", nlohmann::json::array()}};
      for (const model::Settlement& event : shown.events) json["ids"].push_back(base::to_string(event.id));
      out_ << json.dump() << '\n';
      return;
    }
    if (verdict_ == model::Verdict::kPublish) {
      out_ << fmt::format(
          "{} will be sent by the relay, behind later events of their keys that have gone already.\n"
          "undo: none once they are sent; until then `spillway pause` holds them\n",
          counted(changed, "event"));
    } else {
      out_ << fmt::format(
          "{} discarded and will not be sent.\n"
          "undo: none here; the rows stay in the outbox until cleanup and can be inserted again\n",
          counted(changed, "event") + (changed == 1 ? " is" : " are"));
    }
  }

  const ReconcileActOptions& options_;
  model::Verdict verdict_;
  ports::OperatorSession& session_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace

int run_reconcile_list(const ReconcileListOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err) {
  auto filter = filter_of(options.selection);
  if (!filter) return failed(filter.error(), err);
  if (options.limit < 1) {
    err << "--limit: expected a number above 0\n";
    return kExitWrongUsage;
  }
  const auto limit = static_cast<std::size_t>(options.limit);
  filter->limit = limit + 1;
  auto events = store.open_operator()->settlements(*filter);
  if (!events) return failed(events.error(), err);
  const bool more = events->size() > limit;
  if (more) events->resize(limit);
  if (options.json) {
    out << console::list_json(*events);
  } else if (!events->empty()) {
    print_table(*events, out);
  }
  if (more) err << fmt::format("there are more than {}; see --limit\n", options.limit);
  if (events->empty() && !options.json) err << "nothing waits for a person\n";
  return kExitDone;
}

int run_reconcile_show(const ReconcileShowOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err) {
  const auto session = store.open_operator();
  const auto found = find(options.id, *session);
  if (!found) return failed(found.error(), err);
  if (!*found) {
    err << options.id << ": nothing is recorded for this event; `spillway reconcile list` shows what is\n";
    return kExitFailed;
  }
  show(**found, options, out);
  return kExitDone;
}

int run_reconcile_act(const ReconcileActOptions& options, model::Verdict verdict, ports::OutboxStore& store,
                      std::ostream& out, std::ostream& err) {
  const auto session = store.open_operator();
  return Act(options, verdict, *session, out, err).run();
}

int run_explain(const ReconcileShowOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  const auto session = store.open_operator();
  const auto recorded = find(options.id, *session);
  if (!recorded) return failed(recorded.error(), err);
  if (*recorded) {
    show(**recorded, options, out);
    return kExitDone;
  }
  const auto found = session->whereabouts(*base::parse_uuid(options.id));
  if (!found) return failed(found.error(), err);
  if (!*found) {
    err << options.id << ": no such event: it was published and cleaned up, or was never in this outbox\n";
    return kExitFailed;
  }
  show(**found, options, out);
  return kExitDone;
}

}  // namespace spillway::app
