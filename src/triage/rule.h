// One rule of triage, and the list of them.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/predicate.h"
#include "triage/glob.h"
#include "triage/header_condition.h"

namespace spillway::triage {

// As a person writes it. What is empty is no condition.
struct RuleSpec {
  std::string name{};
  std::string type{};                           // glob over the event's type
  std::string key{};                            // glob over the key of its record
  std::map<std::string, std::string> header{};  // as HeaderCondition has them
  std::string sql{};                            // holds where it returns a row
  std::optional<base::Duration> older_than{};   // at least so old
  bool newer_for_key = false;
  model::Verdict then = model::Verdict::kPublish;
};

// Which part of a spec is wrong: "sql" or "header", and a clause about it.
struct RuleFault {
  std::string condition;
  std::string problem;
};

class Rule {
 public:
  static std::expected<Rule, RuleFault> compile(const RuleSpec& spec);

  // Whether the conditions hold that need no database. The error says why one of them cannot be judged.
  // `as_of_unix_micros`: the moment against which ages are taken. A row without a finite created_at has no age.
  std::expected<bool, std::string> may_match(const model::Row& row, std::optional<std::string_view> key,
                                             std::int64_t as_of_unix_micros) const;

  // The conditions that do.
  bool newer_for_key() const { return newer_for_key_; }
  const std::optional<ports::Predicate>& query() const { return query_; }

  bool needs_key() const;
  const std::string& name() const { return name_; }
  model::Verdict then() const { return then_; }
  const std::string& reason() const { return reason_; }  // what the row was: "type session.*, older than 30m"

 private:
  Rule() = default;

  std::string name_;
  std::optional<Glob> type_;
  std::optional<Glob> key_;
  std::optional<HeaderCondition> header_;
  std::optional<std::int64_t> older_than_micros_;
  bool newer_for_key_ = false;
  std::optional<ports::Predicate> query_;
  model::Verdict then_ = model::Verdict::kPublish;
  std::string reason_;
};

inline constexpr char kReplayWindowRule[] = "replay_window";

// The first rule that matches decides. What no rule matches and is older than the window is left to a person.
struct Rules {
  std::vector<Rule> rules;
  std::optional<base::Duration> replay_window;
};

// The row's age in microseconds; empty where it has no finite created_at.
std::optional<std::int64_t> age_micros(const model::Row& row, std::int64_t as_of_unix_micros);

// "30m", "36h", "1500ms": the largest unit that leaves no rest.
std::string span_text(base::Duration span);

}  // namespace spillway::triage
