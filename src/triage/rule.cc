#include "triage/rule.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "triage/query.h"

namespace spillway::triage {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

std::string reason_of(const RuleSpec& spec) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + std::move(part); };
  if (!spec.type.empty()) add("type " + spec.type);
  if (!spec.key.empty()) add("key " + spec.key);
  for (const auto& [name, value] : spec.header) add(fmt::format("header {} is {}", name, value));
  if (spec.older_than) add("older than " + span_text(*spec.older_than));
  if (spec.newer_for_key) add("a newer event of its key and type follows");
  if (!spec.sql.empty()) add("the rule's query found a row");
  return text;
}

}  // namespace

std::expected<Rule, RuleFault> Rule::compile(const RuleSpec& spec) {
  Rule rule;
  rule.name_ = spec.name;
  rule.then_ = spec.then;
  rule.reason_ = reason_of(spec);
  rule.newer_for_key_ = spec.newer_for_key;
  if (!spec.type.empty()) rule.type_.emplace(spec.type);
  if (!spec.key.empty()) rule.key_.emplace(spec.key);
  if (spec.older_than) rule.older_than_micros_ = duration_cast<microseconds>(*spec.older_than).count();
  if (!spec.header.empty()) {
    auto condition = HeaderCondition::make(spec.header);
    if (!condition) return std::unexpected(RuleFault{"header", std::move(condition.error())});
    rule.header_ = std::move(*condition);
  }
  if (!spec.sql.empty()) {
    auto query = parse_query(spec.sql);
    if (!query) return std::unexpected(RuleFault{"sql", std::move(query.error())});
    rule.query_ = std::move(*query);
  }
  return rule;
}

std::expected<bool, std::string> Rule::may_match(const model::Row& row, std::optional<std::string_view> key,
                                                 std::int64_t as_of_unix_micros) const {
  if (type_ && !type_->matches(row.type)) return false;
  if (key_ && (!key || !key_->matches(*key))) return false;
  if (older_than_micros_) {
    const auto age = age_micros(row, as_of_unix_micros);
    if (!age || *age < *older_than_micros_) return false;
  }
  if (!header_) return true;
  if (!row.headers) return false;
  return header_->holds(*row.headers);
}

bool Rule::needs_key() const {
  if (key_) return true;
  if (!query_) return false;
  for (const auto& piece : query_->pieces) {
    if (piece.field == ports::RowField::kKey) return true;
  }
  return false;
}

std::optional<std::int64_t> age_micros(const model::Row& row, std::int64_t as_of_unix_micros) {
  if (row.created_at.kind != model::Timestamp::Kind::kFinite) return std::nullopt;
  return as_of_unix_micros - row.created_at.unix_micros;
}

std::string span_text(base::Duration span) {
  using namespace std::chrono_literals;
  constexpr std::array<std::pair<base::Duration, const char*>, 5> kUnits{
      {{24h, "d"}, {1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}}};
  for (const auto& [unit, name] : kUnits) {
    if (span % unit == base::Duration::zero()) return fmt::format("{}{}", span / unit, name);
  }
  return fmt::format("{}us", duration_cast<microseconds>(span).count());
}

}  // namespace spillway::triage
