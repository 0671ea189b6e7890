#include "sim/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

namespace spillway::sim {

namespace {

// The number in front, and what follows it; nothing where the text does not start with a number.
std::optional<std::pair<double, std::string>> number_and_unit(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return std::pair{value, std::string(end, text.data() + text.size())};
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

}  // namespace

double parse_seconds(const std::string& text) {
  const auto parsed = number_and_unit(text);
  if (!parsed || parsed->first < 0) return -1;
  const auto& [value, unit] = *parsed;
  if (unit == "ms") return value / 1000;
  if (unit == "s") return value;
  if (unit == "m") return value * 60;
  if (unit == "h") return value * 3600;
  return unit.empty() && value == 0 ? 0 : -1;
}

void YamlFaults::add(const YAML::Node& where, const std::string& sentence) {
  const YAML::Mark mark = where.IsDefined() ? where.Mark() : YAML::Mark::null_mark();
  if (mark.is_null()) {
    all_.push_back(fmt::format("{}: {}", source_, sentence));
  } else {
    all_.push_back(fmt::format("{}:{}:{}: {}", source_, mark.line + 1, mark.column + 1, sentence));
  }
}

YamlMap::YamlMap(const YAML::Node& node, std::string name, YamlFaults& faults)
    : node_(std::make_shared<YAML::Node>(node)), name_(std::move(name)), faults_(faults) {
  if (!node.IsMap()) {
    faults_.add(node, fmt::format("{} must be a map of keys and values.", name_.empty() ? "a scenario" : name_));
    node_ = std::make_shared<YAML::Node>(YAML::NodeType::Map);
  }
}

std::string YamlMap::path(const std::string& key) const { return name_.empty() ? key : name_ + "." + key; }

YAML::Node YamlMap::get(const char* key) {
  asked_.insert(key);
  return (*node_)[key];
}

bool YamlMap::has(const char* key) { return get(key).IsDefined(); }

void YamlMap::text(const char* key, std::string& into) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  if (!node.IsScalar()) return faults_.add(node, fmt::format("{} must be a text.", path(key)));
  into = node.Scalar();
}

void YamlMap::number(const char* key, double& into, double least, double most) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  const auto parsed = node.IsScalar() ? number_and_unit(node.Scalar()) : std::nullopt;
  if (!parsed || !parsed->second.empty() || parsed->first < least || parsed->first > most) {
    return faults_.add(node, fmt::format("{} must be a number from {} to {}.", path(key), least, most));
  }
  into = parsed->first;
}

void YamlMap::whole(const char* key, int& into, int least) {
  double value = into;
  number(key, value, least, 1e9);
  into = static_cast<int>(value);
}

void YamlMap::seconds(const char* key, double& into) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  const double value = node.IsScalar() ? parse_seconds(node.Scalar()) : -1;
  if (value < 0)
    return faults_.add(node, fmt::format("{} must be a time with its unit, such as 250ms or 5s.", path(key)));
  into = value;
}

void YamlMap::share(const char* key, double& into) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  const auto parsed = node.IsScalar() ? number_and_unit(node.Scalar()) : std::nullopt;
  if (parsed && (parsed->second == "%" || parsed->second == " %")) {
    into = parsed->first / 100;
  } else if (parsed && parsed->second.empty()) {
    into = parsed->first;
  }
  if (!parsed || into < 0 || into > 1) faults_.add(node, fmt::format("{} must be a share, such as 2%.", path(key)));
}

void YamlMap::choice(const char* key, const std::vector<std::pair<const char*, int>>& choices, int& into) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  std::string known;
  for (const auto& [name, value] : choices) {
    if (node.IsScalar() && node.Scalar() == name) {
      into = value;
      return;
    }
    known += known.empty() ? name : std::string(", ") + name;
  }
  faults_.add(node, fmt::format("{} must be one of {}.", path(key), known));
}

void YamlMap::map(const char* key, const std::function<void(YamlMap&)>& read) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  YamlMap inner(node, path(key), faults_);
  read(inner);
  inner.refuse_the_rest();
}

void YamlMap::each(const char* key, const std::function<void(YamlMap&)>& read) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) return;
  if (!node.IsSequence()) return faults_.add(node, fmt::format("{} must be a list.", path(key)));
  for (std::size_t i = 0; i < node.size(); ++i) {
    YamlMap inner(node[i], fmt::format("{}[{}]", path(key), i), faults_);
    read(inner);
    inner.refuse_the_rest();
  }
}

void YamlMap::refuse_the_rest() {
  for (const auto& entry : *node_) {
    const std::string key = entry.first.Scalar();
    if (asked_.contains(key)) continue;
    const auto nearest = std::min_element(asked_.begin(), asked_.end(), [&](const auto& a, const auto& b) {
      return distance(a, key) < distance(b, key);
    });
    faults_.add(entry.first, fmt::format("{} is not a key of a scenario; did you mean {}?", path(key),
                                         nearest == asked_.end() ? "" : path(*nearest)));
  }
}

}  // namespace spillway::sim
