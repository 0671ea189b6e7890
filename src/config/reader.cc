#include "config/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/environment.h"
#include "config/kafka_rules.h"
#include "config/nearest.h"
#include "config/redact.h"
#include "config/references.h"

namespace spillway::config {
namespace {

constexpr std::size_t kShownLength = 120;

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return {};
    case Node::Kind::kScalar: {
      std::string text = redact(node.text);
      std::ranges::replace(text, '\n', ' ');
      if (text.size() > kShownLength) text = text.substr(0, kShownLength) + "…";
      return text.empty() ? "\"\"" : text;
    }
    case Node::Kind::kSequence: return "a list";
    case Node::Kind::kMap: return "a mapping";
  }
  return {};
}

Node quoted_text(std::string_view text, Origin origin) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text = text;
  node.quoted = true;
  node.origin = std::move(origin);
  return node;
}

FaultKind kind_of(const Misread& misread, const Scalar& member) {
  if (misread.out_of_range) return FaultKind::kOutOfRange;
  if (std::holds_alternative<ChoiceRef>(member)) return FaultKind::kUnknownChoice;
  if (std::holds_alternative<std::string*>(member) || std::holds_alternative<SingleUrl>(member))
    return FaultKind::kBadFormat;
  return FaultKind::kWrongType;
}

// A key of this last name elsewhere in the configuration: it was probably put into the wrong section.
std::string key_in_another_section(std::string_view name) {
  for (const KeySpec& spec : key_table()) {
    if (spec.name.find("[]") != spec.name.npos) continue;
    if (spec.name.size() > name.size() && spec.name.ends_with(name) &&
        spec.name[spec.name.size() - name.size() - 1] == '.') {
      return std::string(spec.name);
    }
  }
  return {};
}

}  // namespace

Reader::Path Reader::Path::child(std::string_view name) const {
  if (actual.empty()) return {std::string(name), std::string(name)};
  return {fmt::format("{}.{}", table, name), fmt::format("{}.{}", actual, name)};
}

Reader::Path Reader::Path::item(std::size_t index) const {
  return {table + "[]", fmt::format("{}[{}]", actual, index)};
}

void Reader::read(const Node& root) {
  if (root.kind != Node::Kind::kMap) {
    fault(FaultKind::kWrongType, root, "", true,
          {.problem = "is not a configuration", .expected = "keys such as outbox: and kafka: at the left margin"});
    return;
  }
  read_map(root, {}, {.config = &config_});
}

void Reader::read_map(const Node& node, const Path& path, Subject subject) {
  if (node.kind == Node::Kind::kNull) return;
  if (node.kind != Node::Kind::kMap) {
    const auto children = children_of(path.table);
    fault(FaultKind::kWrongType, node, path.actual, true,
          {.problem = "is not a section", .expected = fmt::format("keys of its own: {}", fmt::join(children, ", "))});
    return;
  }
  for (const Entry& entry : node.entries) read_entry(entry, path, subject);
}

void Reader::read_entry(const Entry& entry, const Path& path, Subject subject) {
  const Path child = path.child(entry.key);
  const auto siblings = children_of(path.table);
  const KeySpec* spec = find_key(child.table);
  if (std::ranges::find(siblings, entry.key) == siblings.end()) {
    unknown_key(entry, path);
  } else if (spec == nullptr) {
    read_map(entry.value, child, subject);
  } else {
    read_field(entry.value, *spec, child.actual, subject);
  }
}

void Reader::read_field(const Node& node, const KeySpec& spec, const std::string& key, Subject subject) {
  config_.origins[key] = node.origin;
  const Field field = spec.field(subject);
  if (const auto* scalar = std::get_if<Scalar>(&field)) {
    read_scalar(node, spec, key, *scalar);
  } else {
    read_collection(node, {std::string(spec.name), key}, spec, std::get<Collection>(field));
  }
}

std::optional<std::string> Reader::text_of(const Node& node, const std::string& key, bool secret,
                                           std::string_view noun) {
  if (node.kind == Node::Kind::kNull || (node.kind == Node::Kind::kScalar && !node.quoted && node.text == "~")) {
    fault(FaultKind::kWrongType, node, key, secret,
          {.problem = "has no value", .expected = std::string(noun), .remedy = "leave the key out for its default"});
    return std::nullopt;
  }
  if (node.kind != Node::Kind::kScalar) {
    fault(FaultKind::kWrongType, node, key, false, {.problem = "is not a single value", .expected = std::string(noun)});
    return std::nullopt;
  }
  auto text = expand(node.text, sources_);
  if (!text) {
    fault(FaultKind::kBadReference, node, key, secret, std::move(text.error()));
    return std::nullopt;
  }
  return std::move(*text);
}

void Reader::read_scalar(const Node& node, const KeySpec& spec, const std::string& key, const Scalar& member) {
  std::string noun(spec.type.empty() ? type_name(member) : spec.type);
  if (std::holds_alternative<ChoiceRef>(member)) noun = "one of " + range_text(spec, member);
  const auto text = text_of(node, key, spec.secret, noun);
  if (!text) return;
  if (auto misread = assign(member, *text, spec)) {
    const FaultKind kind = kind_of(*misread, member);
    fault(kind, node, key, spec.secret, std::move(*misread));
  }
}

void Reader::read_collection(const Node& node, const Path& path, const KeySpec& spec, const Collection& member) {
  if (node.kind == Node::Kind::kNull) return;
  if (auto* const* texts = std::get_if<std::vector<std::string>*>(&member)) {
    read_texts(node, path.actual, spec, **texts);
  } else if (auto* const* columns = std::get_if<std::map<std::string, std::string>*>(&member)) {
    spec.name == "outbox.columns" ? read_columns(node, path.actual, **columns)
                                  : read_values(node, path.actual, **columns);
  } else if (auto* const* kafka = std::get_if<KafkaConfig*>(&member)) {
    read_properties(node, **kafka);
  } else if (auto* const* signals = std::get_if<std::vector<SignalConfig>*>(&member)) {
    read_list(node, path, **signals, &Subject::signal);
  } else if (auto* const* rules = std::get_if<std::vector<TriageRule>*>(&member)) {
    read_list(node, path, **rules, &Subject::rule);
  }
}

template <typename T>
void Reader::read_list(const Node& node, const Path& path, std::vector<T>& to, T* Subject::*current) {
  if (node.kind != Node::Kind::kSequence) {
    fault(FaultKind::kWrongType, node, path.actual, true,
          {.problem = "is not a list", .expected = "entries that begin with a dash: - {name: …}"});
    return;
  }
  for (const Node& item : node.items) {
    Path place = path.item(to.size());
    config_.origins[place.actual] = item.origin;
    Subject subject{.config = &config_};
    subject.*current = &to.emplace_back();
    if (item.kind == Node::Kind::kMap) {
      read_map(item, place, subject);
    } else {
      fault(FaultKind::kWrongType, item, place.actual, false,
            {.problem = "is not an entry with keys",
             .expected = fmt::format("keys of its own: {}", fmt::join(children_of(place.table), ", "))});
    }
  }
}

void Reader::read_texts(const Node& node, const std::string& key, const KeySpec& spec, std::vector<std::string>& to) {
  if (node.kind != Node::Kind::kSequence) {
    fault(FaultKind::kWrongType, node, key, false,
          {.problem = "is not a list", .expected = "a list in brackets: [a, b]"});
    return;
  }
  to.clear();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", key, i);
    const auto text = text_of(node.items[i], place, false, "text");
    if (!text) continue;
    to.push_back(*text);
    if (auto misread = spec.check(*text))
      fault(FaultKind::kBadFormat, node.items[i], place, false, std::move(*misread));
  }
}

void Reader::read_columns(const Node& node, const std::string& key, std::map<std::string, std::string>& to) {
  if (node.kind != Node::Kind::kMap) {
    fault(FaultKind::kWrongType, node, key, false,
          {.problem = "is not a mapping", .expected = "names such as {id: event_id}"});
    return;
  }
  for (const Entry& entry : node.entries) {
    const std::string path = key + "." + entry.key;
    if (std::ranges::find(column_names(), entry.key) == column_names().end()) {
      const std::string near = nearest(entry.key, column_names());
      faults_.push_back({.kind = FaultKind::kUnknownKey,
                         .origin = entry.origin,
                         .key = path,
                         .problem = "is not a column that Spillway knows",
                         .expected = fmt::format("{}", fmt::join(column_names(), ", ")),
                         .nearest = near.empty() ? "" : key + "." + near});
      continue;
    }
    config_.origins[path] = entry.value.origin;
    const auto text = text_of(entry.value, path, false, "the name of a column");
    if (!text) continue;
    if (auto misread = check_not_empty(*text))
      fault(FaultKind::kBadFormat, entry.value, path, false, std::move(*misread));
    to[entry.key] = *text;
  }
}

void Reader::read_values(const Node& node, const std::string& key, std::map<std::string, std::string>& to) {
  if (node.kind != Node::Kind::kMap || node.entries.empty()) {
    fault(FaultKind::kWrongType, node, key, false,
          {.problem = "does not name a value", .expected = "names and values such as {tenant: acme}"});
    return;
  }
  for (const Entry& entry : node.entries) {
    const auto text = text_of(entry.value, key + "." + entry.key, false, "the value that the header has");
    if (text) to[entry.key] = *text;
  }
}

void Reader::read_properties(const Node& node, KafkaConfig& to) {
  if (node.kind != Node::Kind::kMap) {
    fault(FaultKind::kWrongType, node, "kafka", true,
          {.problem = "is not a mapping",
           .expected = "librdkafka properties, such as bootstrap.servers: 127.0.0.1:9092"});
    return;
  }
  for (const Entry& entry : node.entries) read_property(entry.key, entry.value, to);
}

void Reader::read_property(const std::string& name, const Node& value, KafkaConfig& to) {
  const std::string key = "kafka." + name;
  const bool secret = is_secret_property(name);
  config_.origins[key] = value.origin;
  if (value.kind == Node::Kind::kMap || value.kind == Node::Kind::kSequence) {
    const std::string example = value.kind == Node::Kind::kMap && !value.entries.empty()
                                    ? fmt::format("write {}.{}: … on one line", name, value.entries[0].key)
                                    : "write the items in one text, with commas";
    fault(FaultKind::kWrongType, value, key, false,
          {.problem = "is not a single value",
           .expected = "a librdkafka property under its full name",
           .remedy = example});
    return;
  }
  const auto text = text_of(value, key, secret, "the value of a librdkafka property");
  if (!text) return;
  if (auto misread = check_property(name, *text)) fault(FaultKind::kUnsafe, value, key, secret, std::move(*misread));
  const auto found = std::ranges::find(to.properties, name, &KafkaProperty::name);
  if (found == to.properties.end()) {
    to.properties.push_back({name, *text, value.origin});
  } else {
    *found = {name, *text, value.origin};
  }
}

void Reader::read_environment() {
  for (const KeySpec& spec : key_table()) {
    if (spec.name == "kafka" || spec.name.find("[]") != spec.name.npos) continue;
    const auto found = sources_.environment.find(variable_name(spec.name));
    if (found == sources_.environment.end()) continue;
    const std::string key(spec.name);
    const Origin origin{.kind = Origin::Kind::kEnvironment, .variable = found->first};
    Node node = quoted_text(found->second, origin);
    if (std::holds_alternative<Collection>(spec.field({.config = &config_}))) {
      Tree tree = parse_tree(found->second, origin, key);
      faults_.insert(faults_.end(), tree.faults.begin(), tree.faults.end());
      if (!tree.root) continue;
      node = std::move(*tree.root);
      forget(key);
    }
    read_field(node, spec, key, {.config = &config_});
  }
  for (const auto& [variable, value] : sources_.environment) {
    const std::string name = property_of_variable(variable);
    if (name.empty()) continue;
    read_property(name, quoted_text(value, {.kind = Origin::Kind::kEnvironment, .variable = variable}), config_.kafka);
  }
}

void Reader::forget(const std::string& prefix) {
  std::erase_if(config_.origins, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  if (prefix == "signals") config_.signals.clear();
  if (prefix == "triage.rules") config_.triage.rules.clear();
  if (prefix == "outbox.columns") config_.outbox.columns.clear();
}

void Reader::unknown_key(const Entry& entry, const Path& parent) {
  const Path path = parent.child(entry.key);
  Fault found{.kind = FaultKind::kUnknownKey, .origin = entry.origin, .key = path.actual, .problem = "is not a key"};
  if (find_key(path.table) != nullptr) {
    found.remedy = fmt::format("nest it: a section on its own line, {} below it",
                               std::string_view(entry.key).substr(entry.key.rfind('.') + 1));
  } else if (const auto near = nearest(entry.key, children_of(parent.table)); !near.empty()) {
    found.nearest = parent.child(near).actual;
  } else if (const auto elsewhere = key_in_another_section(entry.key); !elsewhere.empty()) {
    found.nearest = elsewhere;
  } else {
    found.expected = fmt::format("one of {}", fmt::join(children_of(parent.table), ", "));
  }
  faults_.push_back(std::move(found));
}

void Reader::fault(FaultKind kind, const Node& node, const std::string& key, bool secret, Misread misread) {
  faults_.push_back({.kind = kind,
                     .origin = node.origin,
                     .key = key,
                     .value = secret ? "" : shown(node),
                     .problem = std::move(misread.problem),
                     .expected = std::move(misread.expected),
                     .nearest = std::move(misread.nearest),
                     .remedy = std::move(misread.remedy)});
}

}  // namespace spillway::config
