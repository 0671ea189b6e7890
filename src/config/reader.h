// Walks a tree and the environment along the key table into a `Config`, collecting faults.
#pragma once

#include <string>
#include <vector>

#include "config/key_table.h"
#include "config/load.h"
#include "config/tree.h"

namespace spillway::config {

class Reader {
 public:
  explicit Reader(const Sources& sources) : sources_(sources) {}

  void read(const Node& root);

  // Overrides what `read` found. Call after it.
  void read_environment();

  Config& config() { return config_; }
  std::vector<Fault>& faults() { return faults_; }

 private:
  // A key in two spellings: as the table names it, and as the user knows it (`signals[].url`, `signals[2].url`).
  struct Path {
    std::string table;
    std::string actual;
    Path child(std::string_view name) const;
    Path item(std::size_t index) const;
  };

  void read_map(const Node& node, const Path& path, Subject subject);
  void read_entry(const Entry& entry, const Path& path, Subject subject);
  void read_field(const Node& node, const KeySpec& spec, const std::string& key, Subject subject);
  void read_scalar(const Node& node, const KeySpec& spec, const std::string& key, const Scalar& member);
  void read_collection(const Node& node, const Path& path, const KeySpec& spec, const Collection& member);
  void read_texts(const Node& node, const std::string& key, const KeySpec& spec, std::vector<std::string>& to);
  void read_columns(const Node& node, const std::string& key, std::map<std::string, std::string>& to);
  void read_values(const Node& node, const std::string& key, std::map<std::string, std::string>& to);
  void read_properties(const Node& node, KafkaConfig& to);
  void read_property(const std::string& name, const Node& value, KafkaConfig& to);
  template <typename T>
  void read_list(const Node& node, const Path& path, std::vector<T>& to, T* Subject::*current);

  // The text of a scalar with its references replaced; reports and returns nothing where there is none.
  std::optional<std::string> text_of(const Node& node, const std::string& key, bool secret, std::string_view noun);
  void unknown_key(const Entry& entry, const Path& parent);
  void fault(FaultKind kind, const Node& node, const std::string& key, bool secret, Misread misread);
  void forget(const std::string& prefix);

  const Sources& sources_;
  Config config_;
  std::vector<Fault> faults_;
};

}  // namespace spillway::config
