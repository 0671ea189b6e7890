#include "config/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/key_table.h"
#include "config/quantity.h"

namespace spillway::config {
namespace {

class Checker {
 public:
  Checker(const Config& config, const std::set<std::string>& faulty, const std::string& file)
      : config_(config), faulty_(faulty), file_(file) {}

  std::vector<Fault> run() {
    check_required();
    check_outbox();
    check_governor();
    for (std::size_t i = 0; i < config_.signals.size(); ++i) check_signal(i);
    for (std::size_t i = 0; i < config_.triage.rules.size(); ++i) check_rule(i);
    check_unique(config_.signals, "signals");
    check_unique(config_.triage.rules, "triage.rules");
    check_http();
    return std::move(faults_);
  }

 private:
  bool given(const std::string& key) const { return config_.origins.contains(key); }

  // The place of the nearest thing that was written: the key itself, a key beside it, the section's entry, the file.
  Origin near(std::string key) const {
    while (true) {
      if (given(key)) return config_.origins.at(key);
      const auto cut = key.rfind('.');
      if (cut == std::string::npos) break;
      key.resize(cut);
    }
    return {.kind = Origin::Kind::kFile, .place = {.file = file_}};
  }

  void fault(FaultKind kind, const std::string& key, std::string problem, std::string expected,
             std::string remedy = {}) {
    if (is_faulty(key, faulty_)) return;
    faults_.push_back({.kind = kind,
                       .origin = near(key),
                       .key = key,
                       .problem = std::move(problem),
                       .expected = std::move(expected),
                       .remedy = std::move(remedy)});
  }

  void missing(const std::string& key, std::string expected, std::string remedy = {}) {
    fault(FaultKind::kMissing, key, "is missing", std::move(expected), std::move(remedy));
  }

  void check_required() {
    if (!given("outbox.store")) missing("outbox.store", "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH");
    const bool brokers =
        given("kafka.bootstrap.servers") || given("kafka.metadata.broker.list") || given("kafka.test.mock.num.brokers");
    if (!brokers) missing("kafka.bootstrap.servers", "HOST:PORT of one or more brokers");
  }

  void check_outbox() {
    const auto& outbox = config_.outbox;
    const bool read = !faulty_.contains("outbox.poll.busy") && !faulty_.contains("outbox.poll.idle");
    if (read && outbox.poll.busy > outbox.poll.idle) {
      const std::string key = given("outbox.poll.busy") ? "outbox.poll.busy" : "outbox.poll.idle";
      fault(FaultKind::kConflict, key,
            fmt::format("contradicts: busy {} is longer than idle {}", format_duration(outbox.poll.busy),
                        format_duration(outbox.poll.idle)),
            "busy at most idle");
    }
    if (given("outbox.store") && outbox.store_kind() == StoreKind::kSqlite && !outbox.listen.empty()) {
      fault(FaultKind::kConflict, "outbox.listen", "has no use with a SQLite store", "", "leave it out");
    }
  }

  void check_governor() {
    const auto& governor = config_.governor;
    if (!governor.max) return;
    const auto above_max = [&](const std::string& key, Rate rate) {
      if (rate <= *governor.max || faulty_.contains("governor.max")) return;
      fault(FaultKind::kConflict, given(key) ? key : "governor.max",
            fmt::format("contradicts: {} {} is above max {}", key.substr(key.rfind('.') + 1),
                        format_number(rate.per_second), format_number(governor.max->per_second)),
            fmt::format("{} at most governor.max", key));
    };
    above_max("governor.min", governor.min);
    above_max("governor.backlog_min", governor.backlog_min);
  }

  void check_signal(std::size_t index) {
    const std::string prefix = fmt::format("signals[{}].", index);
    if (!given(prefix + "name")) missing(prefix + "name", "a name of its own");
    if (!given(prefix + "kind")) {
      missing(prefix + "kind", fmt::format("{}", fmt::join(names_of<SignalKind>(), ", ")));
      return;
    }
    if (faulty_.contains(prefix + "kind")) return;
    const SignalConfig& signal = config_.signals[index];
    check_applicable(prefix, signal.kind);
    check_fields_of_kind(prefix, signal);
    const bool secure = std::ranges::any_of(signal.urls, [](const auto& url) { return url.starts_with("https://"); });
    if (given(prefix + "ca") && !signal.urls.empty() && !secure) {
      fault(FaultKind::kConflict, prefix + "ca", "has no use without an https target", "", "leave it out");
    }
    if (given(prefix + "timeout") && !faulty_.contains(prefix + "every") && signal.timeout > signal.every) {
      fault(FaultKind::kConflict, prefix + "timeout",
            fmt::format("is longer than every {}", format_duration(signal.every)), "timeout at most every");
    }
  }

  void check_applicable(const std::string& prefix, SignalKind kind) {
    std::vector<std::string_view> applicable;
    for (const KeySpec& spec : key_table()) {
      if (spec.name.starts_with("signals[].") && (spec.kinds & bit(kind)) != 0)
        applicable.push_back(spec.name.substr(10));
    }
    for (const KeySpec& spec : key_table()) {
      if (!spec.name.starts_with("signals[].") || (spec.kinds & bit(kind)) != 0) continue;
      const std::string key = prefix + std::string(spec.name.substr(10));
      if (!given(key)) continue;
      fault(FaultKind::kConflict, key, fmt::format("does not belong to kind {}", to_string(kind)),
            fmt::format("{}", fmt::join(applicable, ", ")));
    }
  }

  void need(const std::string& key, std::string_view kind) {
    if (!given(key)) fault(FaultKind::kMissing, key, fmt::format("is missing; kind {} needs it", kind), "");
  }

  void check_fields_of_kind(const std::string& prefix, const SignalConfig& signal) {
    const auto kind = to_string(signal.kind);
    const bool latency = given(prefix + "latency_ceiling");
    const bool errors = given(prefix + "error_ceiling");
    switch (signal.kind) {
      case SignalKind::kPrometheus:
        check_targets(prefix, signal);
        need(prefix + "histogram", kind);
        if (!latency && !errors) missing(prefix + "latency_ceiling", "latency_ceiling, error_ceiling or both");
        if (errors && !given(prefix + "errors")) missing(prefix + "errors", "the counter that error_ceiling judges");
        if (!errors && given(prefix + "errors")) missing(prefix + "error_ceiling", "the ceiling for errors");
        break;
      case SignalKind::kKafkaLag:
        need(prefix + "group", kind);
        need(prefix + "ceiling", kind);
        break;
      case SignalKind::kHttpProbe:
        need(prefix + "url", kind);
        need(prefix + "latency_ceiling", kind);
        break;
      case SignalKind::kPush:
        if (!latency && !errors) missing(prefix + "latency_ceiling", "latency_ceiling, error_ceiling or both");
        break;
      case SignalKind::kRelay: need(prefix + "latency_ceiling", kind); break;
    }
  }

  void check_targets(const std::string& prefix, const SignalConfig& signal) {
    const bool one = given(prefix + "url");
    const bool many = given(prefix + "urls");
    if (one && many) {
      fault(FaultKind::kConflict, prefix + "url", "is given beside urls", "one of the two", "put it into urls");
    } else if (!one && !many) {
      missing(prefix + "url", "url or urls with kind prometheus");
    } else if (many && signal.urls.empty()) {
      fault(FaultKind::kMissing, prefix + "urls", "is empty", "at least one URL");
    }
  }

  void check_rule(std::size_t index) {
    const std::string prefix = fmt::format("triage.rules[{}].", index);
    if (!given(prefix + "name")) missing(prefix + "name", "a name of its own");
    if (!given(prefix + "then")) missing(prefix + "then", fmt::format("{}", fmt::join(names_of<Verdict>(), ", ")));
    if (config_.triage.rules[index].name == "replay_window") {
      fault(FaultKind::kConflict, prefix + "name", "is replay_window, which stands for triage.replay_window",
            "another name");
    }
    const auto conditions = children_of("triage.rules[].when");
    const bool any = std::ranges::any_of(
        conditions, [&](std::string_view name) { return given(fmt::format("{}when.{}", prefix, name)); });
    if (!any) missing(prefix + "when", fmt::format("at least one of {}", fmt::join(conditions, ", ")));
  }

  template <typename T>
  void check_unique(const std::vector<T>& entries, const std::string& list) {
    std::map<std::string, std::string> seen;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string key = fmt::format("{}[{}].name", list, i);
      if (!given(key)) continue;
      const auto [first, fresh] = seen.emplace(entries[i].name, key);
      if (fresh) continue;
      fault(FaultKind::kConflict, key, fmt::format("repeats the name {} of {}", entries[i].name, first->second),
            "a name of its own");
    }
  }

  void check_http() {
    const auto& http = config_.http;
    if (!http.listen || is_loopback(*http.listen) || http.insecure || !http.token.empty()) return;
    if (faulty_.contains("http.token") || faulty_.contains("http.insecure")) return;
    fault(FaultKind::kUnsafe, "http.listen",
          fmt::format("opens {} to the network without a token", format_listen(*http.listen)), "",
          "set http.token, listen on 127.0.0.1, or say http.insecure: true");
  }

  const Config& config_;
  const std::set<std::string>& faulty_;
  const std::string& file_;
  std::vector<Fault> faults_;
};

}  // namespace

bool is_faulty(std::string key, const std::set<std::string>& faulty) {
  while (true) {
    if (faulty.contains(key)) return true;
    const auto cut = key.rfind('.');
    if (cut == std::string::npos) return false;
    key.resize(cut);
  }
}

std::vector<Fault> check_consistency(const Config& config, const std::set<std::string>& faulty,
                                     const std::string& file) {
  return Checker(config, faulty, file).run();
}

std::vector<Warning> collect_warnings(const Config& config) {
  std::vector<Warning> warnings;
  for (const KeySpec& spec : key_table()) {
    const auto found = config.origins.find(std::string(spec.name));
    if (found == config.origins.end()) continue;
    if (spec.not_yet)
      warnings.push_back({found->second, std::string(spec.name), "is accepted, but has no effect in this release"});
    if (spec.choice_not_yet.empty()) continue;
    Config copy = config;
    const Field field = spec.field({.config = &copy});
    if (const auto* scalar = std::get_if<Scalar>(&field);
        scalar != nullptr && format(*scalar, spec) == spec.choice_not_yet) {
      warnings.push_back({found->second, std::string(spec.name),
                          fmt::format("{} is accepted, but has no effect in this release", spec.choice_not_yet)});
    }
  }
  const auto& http = config.http;
  if (http.listen && !is_loopback(*http.listen) && !http.token.empty() && !http.insecure) {
    warnings.push_back(
        {config.origin_of("http.listen"), "http.listen",
         "sends the token unencrypted over the network; put a TLS proxy before it, or say http.insecure: true "
         "where the network is trusted"});
  }
  return warnings;
}

}  // namespace spillway::config
