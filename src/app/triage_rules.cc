#include "app/triage_rules.h"

#include <fmt/format.h>

#include "relay/route.h"

namespace spillway::app {
namespace {

model::Verdict verdict_of(config::Verdict verdict) {
  switch (verdict) {
    case config::Verdict::kPublish: return model::Verdict::kPublish;
    case config::Verdict::kReconcile: return model::Verdict::kReconcile;
    case config::Verdict::kDiscard: return model::Verdict::kDiscard;
  }
  return model::Verdict::kPublish;
}

triage::RuleSpec spec_of(const config::TriageRule& rule) {
  return {.name = rule.name,
          .type = rule.type,
          .key = rule.key,
          .header = rule.header,
          .sql = rule.sql,
          .older_than = rule.older_than,
          .newer_for_key = rule.newer_for_key,
          .then = verdict_of(rule.then)};
}

struct Compiled {
  triage::Rules rules;
  std::vector<config::Fault> faults;
};

Compiled compile(const config::Config& config) {
  Compiled compiled;
  compiled.rules.replay_window = config.triage.replay_window;
  for (std::size_t i = 0; i < config.triage.rules.size(); ++i) {
    auto rule = triage::Rule::compile(spec_of(config.triage.rules[i]));
    if (rule) {
      compiled.rules.rules.push_back(std::move(*rule));
      continue;
    }
    const std::string key = fmt::format("triage.rules[{}].when.{}", i, rule.error().condition);
    compiled.faults.push_back({.kind = config::FaultKind::kBadFormat,
                               .origin = config.origin_of(key),
                               .key = key,
                               .problem = std::move(rule.error().problem)});
  }
  return compiled;
}

}  // namespace

std::vector<config::Fault> triage_faults(const config::Config& config) { return compile(config).faults; }

base::Result<std::unique_ptr<triage::RuleJudge>> open_judge(const config::Config& config, ports::OutboxStore& store) {
  Compiled compiled = compile(config);
  if (!compiled.faults.empty()) {
    return base::fail(base::ErrorClass::kMisconfigured, config::to_string(compiled.faults.front()));
  }
  if (compiled.rules.rules.empty() && !compiled.rules.replay_window) return nullptr;
  auto key = relay::Template::parse(config.route.key);
  if (!key) return std::unexpected(key.error());
  return std::make_unique<triage::RuleJudge>(
      std::move(compiled.rules), store.open_triage(),
      [key = std::move(*key)](const model::Row& row, std::string& out) { return key.render(row, out); });
}

}  // namespace spillway::app
