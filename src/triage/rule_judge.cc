#include "triage/rule_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace spillway::triage {
namespace {

using Indexes = std::vector<std::size_t>;  // of rows of the page, ascending

base::Error of_rule(const Rule& rule, const base::Error& error) {
  return {error.error_class, fmt::format("triage rule {}: {}", rule.name(), error.message)};
}

// One page before the rules.
class Trial {
 public:
  Trial(const model::Page& page, std::int64_t as_of, ports::TriageSession& session)
      : page_(page), as_of_(as_of), session_(session), keys_(page.rows.size()), undecided_(page.rows.size()) {
    for (std::size_t i = 0; i < undecided_.size(); ++i) undecided_[i] = i;
  }

  void find_keys(const KeyOf& key_of) {
    std::string key;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (key_of(page_.rows[i], key)) keys_[i] = key;
    }
  }

  base::Status apply(const Rule& rule) {
    decided_.clear();
    Indexes candidates = candidates_of(rule);
    for (const auto filter : {&Trial::keep_superseded, &Trial::keep_found}) {
      if (candidates.empty()) break;
      if (auto status = (this->*filter)(rule, candidates); !status)
        return std::unexpected(of_rule(rule, status.error()));
    }
    for (const std::size_t row : candidates) decide(row, rule.then(), rule.name(), rule.reason());
    forget_decided();
    return {};
  }

  void apply_window(base::Duration window) {
    decided_.clear();
    const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(window).count();
    const std::string reason = fmt::format("older than the replay window of {}", span_text(window));
    for (const std::size_t row : undecided_) {
      const auto age = age_micros(page_.rows[row], as_of_);
      if (age && *age > limit) decide(row, model::Verdict::kReconcile, kReplayWindowRule, reason);
    }
    forget_decided();
  }

  std::vector<ports::Judgement> judgements() && {
    std::ranges::sort(judgements_, {}, &ports::Judgement::row);
    return std::move(judgements_);
  }

  bool open() const { return !undecided_.empty(); }

 private:
  Indexes candidates_of(const Rule& rule) {
    Indexes candidates;
    for (const std::size_t row : undecided_) {
      const auto fits = rule.may_match(page_.rows[row], keys_[row], as_of_);
      if (!fits) {
        cannot_tell(row, rule, fits.error());
      } else if (*fits) {
        candidates.push_back(row);
      }
    }
    return candidates;
  }

  // Of the candidates those of which a newer one of their key waits.
  base::Status keep_superseded(const Rule& rule, Indexes& candidates) {
    if (!rule.newer_for_key()) return {};
    const auto newer = session_.newer_for_key(asked(candidates));
    if (!newer) return std::unexpected(newer.error());
    candidates = picked(candidates, *newer);
    return {};
  }

  base::Status keep_found(const Rule& rule, Indexes& candidates) {
    if (!rule.query()) return {};
    const auto matches = session_.matches(*rule.query(), asked(candidates));
    if (!matches) return std::unexpected(matches.error());
    for (const auto& failure : matches->failed) cannot_tell(candidates[failure.row], rule, failure.message);
    candidates = picked(candidates, matches->matched);
    return {};
  }

  std::vector<ports::AskedRow> asked(const Indexes& candidates) const {
    std::vector<ports::AskedRow> rows;
    rows.reserve(candidates.size());
    for (const std::size_t i : candidates) {
      const model::Row& row = page_.rows[i];
      rows.push_back({row.seq, row.id, row.aggregate_type, row.aggregate_id, row.type, keys_[i]});
    }
    return rows;
  }

  static Indexes picked(const Indexes& candidates, const std::vector<std::size_t>& which) {
    Indexes some;
    some.reserve(which.size());
    for (const std::size_t i : which) some.push_back(candidates[i]);
    return some;
  }

  void decide(std::size_t row, model::Verdict verdict, const std::string& rule, std::string reason) {
    judgements_.push_back({row, verdict, rule, std::move(reason)});
    decided_.push_back(row);
  }

  // What cannot be judged is never discarded.
  void cannot_tell(std::size_t row, const Rule& rule, const std::string& why) {
    decide(row, model::Verdict::kReconcile, rule.name(), "the rule cannot be judged: " + why);
  }

  void forget_decided() {
    if (decided_.empty()) return;
    std::ranges::sort(decided_);
    Indexes rest;
    std::ranges::set_difference(undecided_, decided_, std::back_inserter(rest));
    undecided_ = std::move(rest);
  }

  const model::Page& page_;
  std::int64_t as_of_;
  ports::TriageSession& session_;
  std::vector<std::optional<std::string>> keys_;
  Indexes undecided_;
  Indexes decided_;  // by the rule in hand
  std::vector<ports::Judgement> judgements_;
};

}  // namespace

base::Status RuleJudge::check() {
  for (const Rule& rule : rules_.rules) {
    if (!rule.query()) continue;
    if (auto status = session_->check(*rule.query()); !status) return std::unexpected(of_rule(rule, status.error()));
  }
  return {};
}

base::Result<std::vector<ports::Judgement>> RuleJudge::judge(const model::Page& page, std::int64_t as_of_unix_micros) {
  Trial trial(page, as_of_unix_micros, *session_);
  if (std::ranges::any_of(rules_.rules, &Rule::needs_key)) trial.find_keys(key_of_);
  for (const Rule& rule : rules_.rules) {
    if (!trial.open()) break;
    if (auto status = trial.apply(rule); !status) return std::unexpected(status.error());
  }
  if (rules_.replay_window) trial.apply_window(*rules_.replay_window);
  return std::move(trial).judgements();
}

}  // namespace spillway::triage
