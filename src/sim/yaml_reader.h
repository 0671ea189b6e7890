// Strict reading of YAML maps: every fault is collected with its line and column, every unknown key is a fault.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace YAML {
class Node;
}

namespace spillway::sim {

class YamlFaults {
 public:
  explicit YamlFaults(std::string source) : source_(std::move(source)) {}

  void add(const YAML::Node& where, const std::string& sentence);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::string source_;
  std::vector<std::string> all_;
};

class YamlMap {
 public:
  // `name` is the path of the map, empty at the top. A node that is not a map is a fault.
  YamlMap(const YAML::Node& node, std::string name, YamlFaults& faults);

  // Each leaves its target alone where the key is absent.
  void text(const char* key, std::string& into);
  void number(const char* key, double& into, double least, double most);
  void whole(const char* key, int& into, int least);
  void seconds(const char* key, double& into);
  void share(const char* key, double& into);  // 2% or 0.02
  void map(const char* key, const std::function<void(YamlMap&)>& read);
  void each(const char* key, const std::function<void(YamlMap&)>& read);
  void choice(const char* key, const std::vector<std::pair<const char*, int>>& choices, int& into);

  bool has(const char* key);
  // A fault for every key that nobody asked for.
  void refuse_the_rest();

 private:
  YAML::Node get(const char* key);
  std::string path(const std::string& key) const;

  std::shared_ptr<const YAML::Node> node_;
  std::string name_;
  YamlFaults& faults_;
  std::set<std::string> asked_;
};

// "250ms", "1.5s", "5m", "2h" in seconds; negative where the text is none of these.
double parse_seconds(const std::string& text);

}  // namespace spillway::sim
