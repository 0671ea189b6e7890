#include "sim/scenario_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "sim/builtin_text.h"
#include "sim/yaml_reader.h"

namespace spillway::sim {

namespace {

constexpr double kMost = 1e12;

void read_live(YamlMap& m, LiveSpec& live) {
  m.number("rate", live.rate, 0, kMost);
  m.number("foreign_rate", live.foreign_rate, 0, kMost);
  m.map("sine", [&](YamlMap& sine) {
    sine.number("amplitude", live.sine_amplitude, 0, kMost);
    sine.seconds("period", live.sine_period_s);
  });
  m.each("steps", [&](YamlMap& step) {
    LiveSpec::Step s{0, live.rate};
    step.seconds("at", s.at);
    step.number("rate", s.rate, 0, kMost);
    live.steps.push_back(s);
  });
}

void read_service(YamlMap& m, DownstreamSpec& d) {
  int kind = static_cast<int>(d.service);
  m.choice("kind",
           {{"exponential", static_cast<int>(ServiceKind::kExponential)},
            {"lognormal", static_cast<int>(ServiceKind::kLognormal)},
            {"bimodal", static_cast<int>(ServiceKind::kBimodal)}},
           kind);
  d.service = static_cast<ServiceKind>(kind);
  m.seconds("mean", d.service_mean_s);
  m.number("sigma", d.service_sigma, 0, 5);
  m.share("slow_share", d.slow_share);
  m.number("slow_factor", d.slow_factor, 1, 1e6);
}

void read_downstream(YamlMap& m, DownstreamSpec& d) {
  int kind = static_cast<int>(d.kind);
  m.choice("model",
           {{"fifo", static_cast<int>(DownstreamKind::kFifo)},
            {"sharing", static_cast<int>(DownstreamKind::kSharing)},
            {"contention", static_cast<int>(DownstreamKind::kContention)}},
           kind);
  d.kind = static_cast<DownstreamKind>(kind);
  m.whole("servers", d.servers, 1);
  m.map("service", [&](YamlMap& service) { read_service(service, d); });
  m.number("peak_rate", d.peak_rate, 1, kMost);
  m.number("contention_a", d.contention_a, 0, 1);
  m.number("contention_b", d.contention_b, 0, 1);
  m.number("accept_limit", d.accept_limit, 1, kMost);
  if (m.has("ideal_rate")) {
    d.ideal_rate = 0;
    m.number("ideal_rate", *d.ideal_rate, 0, kMost);
  }
  m.map("bucket", [&](YamlMap& bucket) {
    DownstreamSpec::Bucket b{2000, 200, 1};
    bucket.number("rate", b.rate, 1, kMost);
    bucket.number("burst", b.burst, 1, kMost);
    bucket.seconds("retry_after", b.retry_after_s);
    d.bucket = b;
  });
}

void read_change(YamlMap& m, std::vector<Change>& changes) {
  Change c;
  m.seconds("at", c.at);
  if (m.has("servers")) {
    c.servers = 1;
    m.whole("servers", *c.servers, 1);
  }
  if (m.has("factor")) {
    c.factor = 1;
    m.number("factor", *c.factor, 0.001, 1000);
  }
  if (m.has("service_mean")) {
    c.service_mean_s = 0;
    m.seconds("service_mean", *c.service_mean_s);
  }
  changes.push_back(c);
}

Span read_span(YamlMap& m) {
  double from = 0;
  double lasts = 0;
  m.seconds("from", from);
  m.seconds("for", lasts);
  return {from, from + lasts};
}

void read_spans(YamlMap& m, const char* key, std::vector<Span>& spans) {
  m.each(key, [&](YamlMap& span) { spans.push_back(read_span(span)); });
}

// `every` repeats a pause for the first six hours.
void read_pause(YamlMap& m, std::vector<Span>& pauses) {
  constexpr double kRepeatedForS = 6 * 3600;
  const Span first = read_span(m);
  double every = 0;
  m.seconds("every", every);
  pauses.push_back(first);
  if (every <= 0) return;
  for (double at = first.from + every; at < kRepeatedForS; at += every) {
    pauses.push_back({at, at + first.until - first.from});
  }
}

void read_signal(YamlMap& m, Scenario& s) {
  governor::SignalSpec& spec = s.governor.signals.front();
  m.seconds("latency_ceiling", spec.latency_ceiling_s);
  m.share("error_ceiling", spec.error_ceiling);
  m.share("tolerance", spec.tolerance);
  m.seconds("delay", s.signal.delay_s);
  m.seconds("window", s.signal.window_s);
  m.share("loss", s.signal.loss);
  m.share("late", s.signal.late);
  m.seconds("late_by", s.signal.late_by_s);
  m.share("noise", s.signal.noise);
  m.whole("targets", s.signal.targets, 1);
  read_spans(m, "missing", s.signal.missing);
  read_spans(m, "frozen", s.signal.frozen);
  read_spans(m, "not_a_number", s.signal.not_a_number);
  read_spans(m, "wrong_unit", s.signal.wrong_unit);
  read_spans(m, "target_silent", s.signal.target_silent);
}

void read_governor(YamlMap& m, governor::GovernorSpec& spec) {
  m.number("min", spec.min, 0, kMost);
  if (m.has("max")) {
    spec.max = 0;
    m.number("max", *spec.max, 0, kMost);
  }
  m.number("backlog_min", spec.backlog_min, 0, kMost);
  m.number("fixed_rate", spec.fixed_rate, 0, kMost);
  m.map("aimd", [&](YamlMap& aimd) {
    aimd.number("increase", spec.aimd_increase, 0, kMost);
    aimd.number("decrease", spec.aimd_decrease, 0, 1);
  });
}

void read_lanes(YamlMap& m, governor::GovernorSpec& spec) {
  int hold = spec.hold_live ? 1 : 0;
  m.choice("hold_live", {{"on_collapse", 1}, {"never", 0}}, hold);
  spec.hold_live = hold == 1;
}

void read_target(YamlMap& m, Target& target) {
  const auto optional = [&m](const char* key, std::optional<double>& into, double most) {
    if (!m.has(key)) return;
    into = 0;
    m.number(key, *into, 0, most);
  };
  m.number("clear_over_ideal", target.clear_over_ideal, 1, 4);
  optional("seconds_over", target.seconds_over, kMost);
  optional("seconds_over_oracle", target.seconds_over_oracle, kMost);
  optional("seconds_over_share", target.seconds_over_share, 1);
}

Scenario read_scenario(const YAML::Node& node, const std::string& name, YamlFaults& faults) {
  Scenario s;
  s.governor.max = 3000;
  s.governor.signals.push_back({.name = "downstream"});
  YamlMap m(node, "", faults);
  m.text("name", s.name);
  s.name = name;
  m.text("title", s.title);
  m.number("backlog", s.backlog, 1, kMost);
  m.map("live", [&](YamlMap& live) { read_live(live, s.live); });
  m.map("downstream", [&](YamlMap& d) { read_downstream(d, s.downstream); });
  m.each("changes", [&](YamlMap& c) { read_change(c, s.changes); });
  m.each("pauses", [&](YamlMap& p) { read_pause(p, s.pauses); });
  read_spans(m, "error_bursts", s.error_bursts);
  m.share("error_burst_share", s.error_burst_share);
  m.map("path", [&](YamlMap& path) {
    path.seconds("delay", s.path_s);
    int topic = 0;
    path.choice("queue_in", {{"downstream", 0}, {"topic", 1}}, topic);
    s.queue_in_topic = topic == 1;
  });
  m.map("client", [&](YamlMap& client) {
    client.seconds("timeout", s.client.timeout_s);
    client.whole("live_retries", s.client.live_retries, 0);
    client.seconds("retry_jitter", s.client.retry_jitter_s);
  });
  m.map("signal", [&](YamlMap& signal) { read_signal(signal, s); });
  m.each("relay_restarts", [&](YamlMap& r) { r.seconds("at", s.relay_restarts.emplace_back()); });
  m.map("governor", [&](YamlMap& g) { read_governor(g, s.governor); });
  m.map("lanes", [&](YamlMap& lanes) { read_lanes(lanes, s.governor); });
  m.map("target", [&](YamlMap& t) { read_target(t, s.target); });
  m.refuse_the_rest();
  if (const auto fine = governor::check(s.governor); !fine) faults.add(node, fine.error().message);
  return s;
}

// Maps are merged key by key; everything else is replaced.
YAML::Node overlaid(const YAML::Node& below, const YAML::Node& above) {
  if (!below.IsMap() || !above.IsMap()) return YAML::Clone(above);
  YAML::Node merged = YAML::Clone(below);
  for (const auto& entry : above) {
    const std::string key = entry.first.Scalar();
    const YAML::Node old = std::as_const(merged)[key];
    merged[key] = old.IsDefined() ? overlaid(old, entry.second) : YAML::Clone(entry.second);
  }
  return merged;
}

YAML::Node as_tree(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  YAML::Node tree = YAML::Load(assignment.substr(equals + 1));
  std::vector<std::string> keys;
  std::istringstream path(assignment.substr(0, equals));
  for (std::string key; std::getline(path, key, '.');) keys.push_back(key);
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    YAML::Node outer(YAML::NodeType::Map);
    outer[*key] = tree;
    tree = outer;
  }
  return tree;
}

base::Result<std::vector<Scenario>> failed(const YamlFaults& faults) {
  std::string all;
  for (const std::string& fault : faults.all()) all += (all.empty() ? "" : "\n") + fault;
  return base::fail(base::ErrorClass::kMisconfigured, all);
}

base::Result<std::vector<Scenario>> parse(const std::string& text, const std::string& source,
                                          const std::vector<std::string>& assignments) {
  YamlFaults faults(source);
  std::vector<Scenario> scenarios;
  try {
    YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      faults.add(root, "a scenario must be a map of keys and values.");
      return failed(faults);
    }
    for (const std::string& assignment : assignments) {
      if (assignment.find('=') == std::string::npos) {
        faults.add(YAML::Node(), fmt::format("'{}' is not KEY=VALUE.", assignment));
        return failed(faults);
      }
      root = overlaid(root, as_tree(assignment));
    }
    const std::string name = root["name"].as<std::string>(std::filesystem::path(source).stem().string());
    const YAML::Node variants = root["variants"];
    root.remove("variants");
    if (!variants.IsDefined()) {
      scenarios.push_back(read_scenario(root, name, faults));
    } else {
      for (const auto& variant : variants) {
        scenarios.push_back(read_scenario(overlaid(root, variant.second), name + "-" + variant.first.Scalar(), faults));
      }
    }
  } catch (const YAML::Exception& e) {
    faults.add(YAML::Node(), fmt::format("line {}, column {}: {}.", e.mark.line + 1, e.mark.column + 1, e.msg));
  }
  if (!faults.all().empty()) return failed(faults);
  return scenarios;
}

bool has_prefix(const std::string& name, const std::string& prefix) {
  return name == prefix || name.starts_with(prefix + "-");
}

std::string family(const std::string& name) { return name.substr(0, name.find('-')); }

}  // namespace

base::Result<std::vector<Scenario>> parse_scenarios(const std::string& text, const std::string& source) {
  return parse(text, source, {});
}

const std::vector<Scenario>& builtin_scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> found;
    for (const BuiltinText& text : builtin_texts()) {
      auto parsed = parse(text.content, text.name, {});
      if (!parsed) throw std::runtime_error(parsed.error().message);
      std::move(parsed->begin(), parsed->end(), std::back_inserter(found));
    }
    return found;
  }();
  return all;
}

base::Result<std::vector<Scenario>> find_scenarios(const std::string& name,
                                                   const std::vector<std::string>& assignments) {
  for (const BuiltinText& text : builtin_texts()) {
    if (family(name) + ".yaml" != text.name) continue;
    auto parsed = parse(text.content, text.name, assignments);
    if (!parsed) return parsed;
    std::erase_if(*parsed, [&](const Scenario& s) { return !has_prefix(s.name, name); });
    if (!parsed->empty()) return parsed;
  }
  std::ifstream file(name);
  if (!file) {
    std::string known;
    for (const Scenario& s : builtin_scenarios()) known += " " + s.name;
    return base::fail(
        base::ErrorClass::kMisconfigured,
        fmt::format("'{}' is neither a scenario nor a file that can be read; the scenarios are{}.", name, known));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), name, assignments);
}

}  // namespace spillway::sim
