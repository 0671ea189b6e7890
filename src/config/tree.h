// YAML as a plain tree with the place of every key and value: what yaml-cpp reads, checked for what it lets pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"

namespace spillway::config {

struct Entry;

struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  std::string text = {};  // kScalar, exactly as written: no word or digit is interpreted
  bool quoted = false;
  std::vector<Node> items = {};  // kSequence
  std::vector<Entry> entries;    // kMap, merge keys (<<) resolved
  Origin origin = {};
};

struct Entry {
  std::string key = {};
  Origin origin = {};  // of the key
  Node value = {};
};

struct Tree {
  std::optional<Node> root;  // empty where the text cannot be read at all
  std::vector<Fault> faults;
};

// `source` names the file, or the environment variable, that the text came from; `root` prefixes key paths in faults.
Tree parse_tree(std::string_view text, const Origin& source, const std::string& root = {});

}  // namespace spillway::config
