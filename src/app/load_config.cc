#include "app/load_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/triage_rules.h"
#include "http/trust.h"
#include "kafka/properties.h"

namespace spillway::app {
namespace {

// "kafka.NAME: what is wrong" of librdkafka, at the place where the property stands.
config::Fault placed(const std::string& fault, const config::Config& config, const std::string& path) {
  for (const config::KafkaProperty& property : config.kafka.properties) {
    const std::string head = "kafka." + property.name + ": ";
    if (!fault.starts_with(head)) continue;
    return {.kind = config::FaultKind::kBadFormat,
            .origin = property.origin,
            .key = "kafka." + property.name,
            .problem = "is refused: " + fault.substr(head.size())};
  }
  return {.kind = config::FaultKind::kBadFormat,
          .origin = {.kind = config::Origin::Kind::kFile, .place = {.file = path}},
          .key = "kafka",
          .problem = "is refused: " + fault};
}

// What librdkafka refuses. That brokers are missing is not said a second time.
std::vector<config::Fault> property_faults(const config::Config& config, const std::set<std::string>& faulty,
                                           const std::string& path) {
  kafka::Properties properties;
  for (const config::KafkaProperty& property : config.kafka.properties) {
    properties.emplace_back(property.name, property.value);
  }
  std::vector<config::Fault> faults;
  for (const std::string& fault : kafka::property_faults(properties)) {
    if (faulty.contains("kafka.bootstrap.servers") && fault.starts_with("kafka.bootstrap.servers: ")) continue;
    faults.push_back(placed(fault, config, path));
  }
  return faults;
}

// Files of certificates that signals name and that cannot be used.
std::vector<config::Fault> certificate_faults(const config::Config& config) {
  std::vector<config::Fault> faults;
  for (std::size_t i = 0; i < config.signals.size(); ++i) {
    const std::string& ca = config.signals[i].ca;
    if (ca.empty()) continue;
    const base::Status usable = http::check_trust(ca);
    if (usable) continue;
    const std::string key = fmt::format("signals[{}].ca", i);
    faults.push_back({.kind = config::FaultKind::kFile,
                      .origin = config.origin_of(key),
                      .key = key,
                      .problem = "cannot be used: " + usable.error().message,
                      .expected = "a file of certificates in PEM form",
                      .remedy = "correct the path or the file"});
  }
  return faults;
}

}  // namespace

config::LoadResult load_config(const std::string& path, const config::Sources& sources) {
  return config::load_file(path, sources, [&](const config::Config& config, const std::set<std::string>& faulty) {
    std::vector<config::Fault> faults = property_faults(config, faulty, path);
    std::ranges::move(certificate_faults(config), std::back_inserter(faults));
    std::ranges::move(triage_faults(config), std::back_inserter(faults));
    return faults;
  });
}

}  // namespace spillway::app
