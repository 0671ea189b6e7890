#include "config/tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <utility>

namespace spillway::config {
namespace {

// Far beyond any real configuration; they bound what aliases can unfold to.
constexpr int kMaxDepth = 32;
constexpr int kMaxNodes = 100'000;

std::string child_path(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

class Builder {
 public:
  Builder(std::string_view text, const Origin& source) : text_(text), source_(source) {}

  Origin at(const YAML::Mark& mark) const { return at(mark.line + 1, mark.column + 1); }
  Origin at(int line, int column) const {
    Origin origin = source_;
    if (origin.kind == Origin::Kind::kFile) {
      origin.place.line = std::max(line, 1);
      origin.place.column = std::max(column, 1);
    }
    return origin;
  }

  void fault(const Origin& origin, FaultKind kind, std::string key, std::string problem, std::string remedy = {}) {
    faults_.push_back({.kind = kind,
                       .origin = origin,
                       .key = std::move(key),
                       .problem = std::move(problem),
                       .remedy = std::move(remedy)});
  }

  Node build(const YAML::Node& from, const std::string& path, const Origin& where, int depth) {
    Node node;
    node.origin = from.IsNull() ? where : at(from.Mark());
    if (overgrown_) return node;
    if (++nodes_ > kMaxNodes || depth > kMaxDepth) {
      fault(node.origin, FaultKind::kSyntax, {}, "unfolds to more than any configuration needs",
            "look for an alias (*name) inside its own anchor (&name)");
      overgrown_ = true;
      return node;
    }
    check_tag(from, node.origin, path);
    if (from.IsScalar()) {
      node.kind = Node::Kind::kScalar;
      node.text = from.Scalar();
      node.quoted = from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str";
      check_closed(from, node, path);
    } else if (from.IsSequence()) {
      node.kind = Node::Kind::kSequence;
      int index = 0;
      for (const auto& item : from) {
        node.items.push_back(build(item, fmt::format("{}[{}]", path, index++), node.origin, depth + 1));
      }
    } else if (from.IsMap()) {
      node.kind = Node::Kind::kMap;
      build_map(from, node, path, depth);
    }
    return node;
  }

  std::vector<Fault> take_faults() { return std::move(faults_); }

 private:
  void build_map(const YAML::Node& from, Node& node, const std::string& path, int depth) {
    std::vector<Node> merged;
    std::map<std::string, Origin> seen;
    for (const auto& pair : from) {
      const Origin origin = at(pair.first.Mark());
      if (!pair.first.IsScalar()) {
        fault(origin, FaultKind::kSyntax, path, "has a key that is not plain text", "put text with { or [ in quotes");
        continue;
      }
      const std::string key = pair.first.Scalar();
      if (key == "<<" && pair.first.Tag() != "!") {
        add_merged(build(pair.second, path, origin, depth + 1), merged, path);
        continue;
      }
      const auto [first, fresh] = seen.emplace(key, origin);
      if (!fresh) {
        fault(origin, FaultKind::kDuplicateKey, child_path(path, key),
              fmt::format("is already given at {}", to_string(first->second)), "keep one of the two");
        continue;
      }
      node.entries.push_back({key, origin, build(pair.second, child_path(path, key), origin, depth + 1)});
    }
    // Own keys win over merged ones, earlier merges over later ones.
    for (Node& map : merged) {
      for (Entry& entry : map.entries) {
        if (seen.emplace(entry.key, entry.origin).second) node.entries.push_back(std::move(entry));
      }
    }
  }

  void add_merged(Node node, std::vector<Node>& merged, const std::string& path) {
    if (node.kind == Node::Kind::kMap) {
      merged.push_back(std::move(node));
    } else if (node.kind == Node::Kind::kSequence &&
               std::ranges::all_of(node.items, [](const Node& item) { return item.kind == Node::Kind::kMap; })) {
      for (Node& item : node.items) merged.push_back(std::move(item));
    } else {
      fault(node.origin, FaultKind::kSyntax, path, "merges (<<) something other than mappings",
            "merge an alias such as *base");
    }
  }

  void check_tag(const YAML::Node& from, const Origin& origin, const std::string& path) {
    const std::string& tag = from.Tag();
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:")) return;
    fault(origin, FaultKind::kSyntax, path, fmt::format("has the tag {}, which means nothing here", tag),
          "tags are not used; a value from outside is ${env:NAME} or ${file:PATH}");
  }

  // yaml-cpp takes the end of the file for the closing quote, and what was meant as keys for text.
  void check_closed(const YAML::Node& from, const Node& node, const std::string& path) {
    const int position = from.Mark().pos;
    if (!node.quoted || position < 0 || static_cast<std::size_t>(position) >= text_.size()) return;
    const char quote = text_[static_cast<std::size_t>(position)];
    if (quote != '"' && quote != '\'') return;
    for (auto i = static_cast<std::size_t>(position) + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (quote == '"' || i + 1 == text_.size() || text_[i + 1] != quote) return;
        ++i;
      }
    }
    fault(node.origin, FaultKind::kSyntax, path, "has a quote that is never closed",
          fmt::format("add the closing {}", quote));
  }

  std::string_view text_;
  Origin source_;
  std::vector<Fault> faults_;
  int nodes_ = 0;
  bool overgrown_ = false;
};

// Line and column of the first tab in an indentation up to `last_line`; yaml-cpp reports such a tab as something else.
std::optional<std::pair<int, int>> indenting_tab(std::string_view text, int last_line) {
  int line = 1;
  while (!text.empty() && line <= last_line) {
    const auto content = text.substr(0, text.find('\n'));
    const auto indentation = content.substr(0, content.find_first_not_of(" \t"));
    const auto tab = indentation.find('\t');
    if (tab != indentation.npos && indentation.size() < content.size())
      return std::pair(line, static_cast<int>(tab) + 1);
    text.remove_prefix(std::min(content.size() + 1, text.size()));
    ++line;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
    if (size == 0 || i + size > text.size() || lead == 0) return false;
    for (std::size_t j = 1; j < size; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xC0) != 0x80) return false;
    }
    i += size;
  }
  return true;
}

}  // namespace

Tree parse_tree(std::string_view text, const Origin& source, const std::string& root) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Builder builder(text, source);
  Tree tree;
  if (!is_utf8(text)) {
    builder.fault(source, FaultKind::kSyntax, root, "is not UTF-8 text", "save it as UTF-8");
    tree.faults = builder.take_faults();
    return tree;
  }
  try {
    auto documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      const auto separator = text.find("\n---", text.find_first_not_of("-\n "));
      const auto line =
          2 + static_cast<int>(std::count(
                  text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(separator, text.size())), '\n'));
      builder.fault(builder.at(line, 1), FaultKind::kSyntax, root, "begins a second document",
                    "remove the line --- and what belongs to the other document");
    } else if (documents.empty() || documents[0].IsNull()) {
      builder.fault(source, FaultKind::kFile, root, "is empty", "`spillway config reference` lists what belongs in it");
    } else {
      tree.root = builder.build(documents[0], root, builder.at(1, 1), 0);
    }
  } catch (const YAML::Exception& error) {
    if (const auto tab = indenting_tab(text, error.mark.line + 1)) {
      builder.fault(builder.at(tab->first, tab->second), FaultKind::kSyntax, root, "is indented by a tab",
                    "YAML is indented by spaces alone");
    } else {
      builder.fault(builder.at(error.mark), FaultKind::kSyntax, root, fmt::format("is not YAML ({})", error.msg),
                    "check the indentation, the colon after each key, and put text with special characters in quotes");
    }
  }
  tree.faults = builder.take_faults();
  return tree;
}

}  // namespace spillway::config
