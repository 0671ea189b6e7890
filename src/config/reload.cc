#include "config/reload.h"

#include <algorithm>
#include <map>

#include "config/key_table.h"
#include "config/redact.h"

namespace spillway::config {
namespace {

// Every scalar of a subject as text; two subjects are equal where all of these are.
std::vector<std::string> texts(Subject subject, std::string_view prefix) {
  std::vector<std::string> all;
  for (const KeySpec& spec : key_table()) {
    if (!spec.name.starts_with(prefix) || spec.name.size() == prefix.size()) continue;
    const Field field = spec.field(subject);
    if (const auto* scalar = std::get_if<Scalar>(&field)) {
      all.push_back(format(*scalar, spec));
    } else if (auto* const* list = std::get_if<std::vector<std::string>*>(&std::get<Collection>(field))) {
      all.insert(all.end(), (*list)->begin(), (*list)->end());
    } else if (auto* const* values = std::get_if<std::map<std::string, std::string>*>(&std::get<Collection>(field))) {
      for (const auto& [name, value] : **values) all.insert(all.end(), {name, value});
    }
    all.emplace_back();
  }
  return all;
}

class Comparison {
 public:
  Comparison(const Config& running, const Config& wanted) : running_(running), wanted_(wanted) {}

  ReloadPlan run() {
    for (const KeySpec& spec : key_table()) {
      if (spec.name.find("[]") == spec.name.npos) compare(spec);
    }
    return std::move(plan_);
  }

 private:
  void compare(const KeySpec& spec) {
    const Field before = spec.field({.config = &running_});
    if (const auto* scalar = std::get_if<Scalar>(&before)) {
      const auto after = std::get<Scalar>(spec.field({.config = &wanted_}));
      const std::string was = format(*scalar, spec);
      const std::string is = format(after, spec);
      if (was != is) add(spec, spec.secret ? "***" : redact(was), spec.secret ? "***" : redact(is));
    } else if (spec.name == "kafka") {
      compare_properties();
    } else if (differs(spec.name)) {
      add(spec, "", "");
    }
  }

  bool differs(std::string_view list) {
    if (list == "outbox.columns") return running_.outbox.columns != wanted_.outbox.columns;
    return entries(running_, list) != entries(wanted_, list);
  }

  static std::vector<std::vector<std::string>> entries(Config& config, std::string_view list) {
    std::vector<std::vector<std::string>> all;
    if (list == "signals") {
      for (auto& signal : config.signals) all.push_back(texts({.config = &config, .signal = &signal}, "signals[]"));
    } else {
      for (auto& rule : config.triage.rules) all.push_back(texts({.config = &config, .rule = &rule}, "triage.rules[]"));
    }
    return all;
  }

  void compare_properties() {
    std::map<std::string, std::pair<const std::string*, const std::string*>> names;
    for (const auto& property : running_.kafka.properties) names[property.name].first = &property.value;
    for (const auto& property : wanted_.kafka.properties) names[property.name].second = &property.value;
    for (const auto& [name, values] : names) {
      const auto [was, is] = values;
      if (was == nullptr || is == nullptr || *was != *is) plan_.needs_restart.push_back("kafka." + name);
    }
  }

  void add(const KeySpec& spec, std::string before, std::string after) {
    if (spec.reload) {
      plan_.changes.push_back({std::string(spec.name), std::move(before), std::move(after)});
    } else {
      plan_.needs_restart.emplace_back(spec.name);
    }
  }

  // Copies: a key's member is found through a pointer that could also write.
  Config running_;
  Config wanted_;
  ReloadPlan plan_;
};

}  // namespace

ReloadPlan diff_for_reload(const Config& running, const Config& wanted) { return Comparison(running, wanted).run(); }

}  // namespace spillway::config
