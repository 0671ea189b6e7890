#include "app/triage_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "app/exit_status.h"
#include "app/triage_rules.h"
#include "app/waiting_rows.h"
#include "model/timestamp.h"
#include "status/words.h"

namespace spillway::app {
namespace {

using Json = nlohmann::ordered_json;
using model::Verdict;
using status::count_words;
using status::one_line;

// Events of as many types get a line of their own; types with an id in them would be as many as events.
constexpr std::size_t kMostLines = 1000;
constexpr char kOtherTypes[] = "(other types)";

struct Line {
  std::int64_t events = 0;
  std::optional<std::int64_t> oldest_micros{};  // ages; empty where no event of it has a time
  std::optional<std::int64_t> newest_micros{};
  std::string reason{};  // of its first event
  std::vector<std::string> ids{};

  void add(const model::Row& row, std::int64_t as_of, const std::string& why, std::size_t sample) {
    if (events++ == 0) reason = why;
    if (ids.size() < sample) ids.push_back(base::to_string(row.id));
    const auto age = triage::age_micros(row, as_of);
    if (!age) return;
    oldest_micros = std::max(oldest_micros.value_or(*age), *age);
    newest_micros = std::min(newest_micros.value_or(*age), *age);
  }
};

// What would become of the events, by rule, verdict and type.
class Preview {
 public:
  explicit Preview(std::size_t sample) : sample_(sample) {}

  void add(const model::Page& page, const std::vector<ports::Judgement>& judgements, std::int64_t as_of) {
    auto judged = judgements.begin();
    static const ports::Judgement kNone{};
    for (std::size_t i = 0; i < page.rows.size(); ++i) {
      const bool named = judged != judgements.end() && judged->row == i;
      const ports::Judgement& judgement = named ? *judged : kNone;
      line_of(judgement, page.rows[i].type).add(page.rows[i], as_of, judgement.reason, sample_);
      ++verdicts_[judgement.verdict];
      if (named) ++judged;
    }
    events_ += std::ssize(page.rows);
  }

  std::int64_t events() const { return events_; }

  void print(std::ostream& out) const {
    if (events_ == 0) return;
    out << fmt::format("{:<20}  {:<9}  {:<28}  {:>11}  {:>12}  {:>12}\n", "RULE", "VERDICT", "TYPE", "EVENTS", "OLDEST",
                       "NEWEST");
    for (const auto& [at, line] : lines_) {
      const auto& [rule, verdict, type] = at;
      out << fmt::format("{:<20}  {:<9}  {:<28}  {:>11}  {:>12}  {:>12}\n", rule.empty() ? "(none)" : rule,
                         to_string(verdict), one_line(type), count_words(line.events), age_words(line.oldest_micros),
                         age_words(line.newest_micros));
      if (!line.reason.empty()) out << fmt::format("{:<20}  {}\n", "", one_line(line.reason));
      for (const std::string& id : line.ids) out << fmt::format("{:<20}  {}\n", "", id);
    }
    out << fmt::format("{}: publish {}, reconcile {}, discard {}\n", status::counted(events_, "event"),
                       count_words(count(Verdict::kPublish)), count_words(count(Verdict::kReconcile)),
                       count_words(count(Verdict::kDiscard)));
  }

  void print_json(std::int64_t as_of, std::ostream& out) const {
    Json json{{"version", 1},
              {"as_of", events_ == 0 ? Json(nullptr) : Json(model::to_string(model::Timestamp::at(as_of)))},
              {"events", events_},
              {"publish", count(Verdict::kPublish)},
              {"reconcile", count(Verdict::kReconcile)},
              {"discard", count(Verdict::kDiscard)},
              {"groups", Json::array()}};
    for (const auto& [at, line] : lines_) {
      const auto& [rule, verdict, type] = at;
      Json group{{"rule", rule.empty() ? Json(nullptr) : Json(rule)},
                 {"verdict", to_string(verdict)},
                 {"type", type},
                 {"events", line.events},
                 {"oldest_age_s", age_json(line.oldest_micros)},
                 {"newest_age_s", age_json(line.newest_micros)},
                 {"reason", line.reason}};
      if (sample_ > 0) group["ids"] = line.ids;
      json["groups"].push_back(std::move(group));
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  }

 private:
  using Key = std::tuple<std::string, Verdict, std::string>;  // rule, verdict, type

  Line& line_of(const ports::Judgement& judgement, std::string_view type) {
    Key key{judgement.rule, judgement.verdict, type};
    if (lines_.size() >= kMostLines && !lines_.contains(key)) std::get<2>(key) = kOtherTypes;
    return lines_[std::move(key)];
  }

  std::int64_t count(Verdict verdict) const {
    const auto found = verdicts_.find(verdict);
    return found == verdicts_.end() ? 0 : found->second;
  }

  static std::string age_words(const std::optional<std::int64_t>& micros) {
    return micros ? status::span_words(static_cast<double>(*micros) / 1e6) : "unknown";
  }

  static Json age_json(const std::optional<std::int64_t>& micros) {
    return micros ? Json(static_cast<double>(*micros) / 1e6) : Json(nullptr);
  }

  std::size_t sample_;
  std::map<Key, Line> lines_;
  std::map<Verdict, std::int64_t> verdicts_;
  std::int64_t events_ = 0;
};

}  // namespace

int run_triage(const TriageOptions& options, const config::Config& config, ports::OutboxStore& store, std::ostream& out,
               std::ostream& err) {
  const auto judge = open_judge(config, store);
  if (!judge) return failed(judge.error(), err);
  if (*judge) {
    if (auto status = (*judge)->check(); !status) return failed(status.error(), err);
  } else {
    err << "there is neither a rule nor a replay window in triage: everything is published\n";
  }
  Preview preview(static_cast<std::size_t>(std::max(options.sample, 0)));
  WaitingRows waiting(store);
  // Ages are taken against one moment, however long this takes.
  std::optional<std::int64_t> as_of;
  for (;;) {
    const auto page = waiting.next();
    if (!page) return failed(page.error(), err);
    if (!*page) break;
    if ((*page)->rows.empty()) continue;
    if (!as_of) as_of = (*page)->db_now_micros;
    std::vector<ports::Judgement> judgements;
    if (*judge) {
      auto judged = (*judge)->judge(**page, *as_of);
      if (!judged) return failed(judged.error(), err);
      judgements = std::move(*judged);
    }
    preview.add(**page, judgements, *as_of);
    if (options.progress) err << fmt::format("\r{} judged", status::counted(preview.events(), "event")) << std::flush;
  }
  if (options.progress && preview.events() > 0) err << '\n';
  if (options.json) {
    preview.print_json(as_of.value_or(0), out);
  } else {
    preview.print(out);
    if (preview.events() == 0) err << "nothing waits\n";
  }
  return kExitDone;
}

}  // namespace spillway::app
