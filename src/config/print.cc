#include "config/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/kafka_rules.h"
#include "config/key_table.h"
#include "config/redact.h"
#include "config/references.h"

namespace spillway::config {
namespace {

constexpr std::string_view kHiddenValue = "\"***\"";

// Plain where that reads back to the same text, else in double quotes.
std::string plain_or_quoted(std::string_view text) {
  const auto plain_char = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./%+-:@=?&,").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const bool plain = !text.empty() && (std::isalnum(static_cast<unsigned char>(text[0])) != 0 || text[0] == '/') &&
                     std::ranges::all_of(text, plain_char) && !text.ends_with(':') && text.find(", ") == text.npos;
  if (plain) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string shown(std::string_view text) { return plain_or_quoted(escape_references(redact(text))); }

// In a flow list or mapping a comma would end the item.
std::string shown_item(std::string_view text) {
  const std::string item = shown(text);
  return item.find(',') == item.npos || item[0] == '"' ? item : '"' + item + '"';
}

std::string shown_list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(shown_item(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string shown_map(const std::map<std::string, std::string>& values) {
  std::vector<std::string> items;
  for (const auto& [name, value] : values)
    items.push_back(fmt::format("{}: {}", plain_or_quoted(name), shown_item(value)));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

class Printer {
 public:
  explicit Printer(const Config& config) : config_(config) {}

  std::string run() {
    for (const KeySpec& spec : key_table()) {
      if (spec.name.find("[]") == spec.name.npos) print_key(spec);
    }
    return std::move(out_);
  }

 private:
  void print_key(const KeySpec& spec) {
    const std::string key(spec.name);
    const Field field = spec.field({.config = &config_});
    if (spec.name == "kafka") {
      open_sections(key + ".");
      for (const KafkaProperty& property : config_.kafka.properties) {
        const std::string value = is_secret_property(property.name) ? std::string(kHiddenValue) : shown(property.value);
        line(1, plain_or_quoted(property.name), value, property.origin);
      }
    } else if (spec.name == "signals") {
      print_list(key, config_.signals.size(), "signals[].",
                 [&](std::size_t i) { return Subject{.config = &config_, .signal = &config_.signals[i]}; });
    } else if (spec.name == "triage.rules") {
      print_list(key, config_.triage.rules.size(), "triage.rules[].",
                 [&](std::size_t i) { return Subject{.config = &config_, .rule = &config_.triage.rules[i]}; });
    } else if (spec.name == "outbox.columns") {
      print_columns(key);
    } else {
      open_sections(key);
      line(depth_, last(key), value_of(field, spec), config_.origin_of(key));
    }
  }

  std::string value_of(const Field& field, const KeySpec& spec) const {
    if (const auto* scalar = std::get_if<Scalar>(&field)) {
      const std::string text = format(*scalar, spec);
      return spec.secret && !text.empty() ? std::string(kHiddenValue) : shown(text);
    }
    const auto& collection = std::get<Collection>(field);
    if (auto* const* values = std::get_if<std::map<std::string, std::string>*>(&collection)) return shown_map(**values);
    return shown_list(*std::get<std::vector<std::string>*>(collection));
  }

  void print_columns(const std::string& key) {
    open_sections(key);
    if (config_.outbox.columns.empty()) {
      line(depth_, last(key), "{}", config_.origin_of(key));
      return;
    }
    out_ += fmt::format("{:{}}{}:\n", "", 2 * depth_, last(key));
    for (const auto& [name, column] : config_.outbox.columns) {
      line(depth_ + 1, name, shown(column), config_.origin_of(key + "." + name));
    }
  }

  template <typename Find>
  void print_list(const std::string& key, std::size_t count, std::string_view prefix, Find subject) {
    open_sections(key);
    if (count == 0) {
      line(depth_, last(key), "[]", config_.origin_of(key));
      return;
    }
    out_ += fmt::format("{:{}}{}:\n", "", 2 * depth_, last(key));
    for (std::size_t i = 0; i < count; ++i) {
      print_item(fmt::format("{}[{}].", key, i), prefix, subject(i));
    }
  }

  void print_item(const std::string& actual, std::string_view prefix, Subject subject) {
    bool first = true;
    bool nested = false;
    for (const KeySpec& spec : key_table()) {
      if (!spec.name.starts_with(prefix)) continue;
      if (subject.signal != nullptr && (spec.kinds & bit(subject.signal->kind)) == 0) continue;
      const std::string name(spec.name.substr(prefix.size()));
      const std::string key = actual + name;
      const bool given = config_.origins.contains(key);
      const std::string value = value_of(spec.field(subject), spec);
      if (!given && (value == "\"\"" || value == "[]" || name == "url" || name == "urls" || name.starts_with("when.")))
        continue;
      const bool condition = name.starts_with("when.");
      const std::string dash = first ? "- " : "  ";
      if (condition && !nested) out_ += fmt::format("{:{}}{}when:\n", "", 2 * depth_ + 2, dash);
      nested = condition;
      const std::string shown_name = condition ? name.substr(5) : name;
      line(depth_ + 1 + (condition ? 1 : 0), (condition ? "  " : dash) + shown_name, value, config_.origin_of(key));
      first = false;
    }
  }

  static std::string last(const std::string& key) { return key.substr(key.rfind('.') + 1); }

  // Writes the headings on the way to `key` that the previous key did not share.
  void open_sections(const std::string& key) {
    std::vector<std::string> sections;
    std::size_t from = 0;
    for (std::size_t dot = key.find('.'); dot != key.npos; dot = key.find('.', from)) {
      sections.push_back(key.substr(from, dot - from));
      from = dot + 1;
    }
    const auto common = std::ranges::mismatch(sections, open_).in1 - sections.begin();
    for (auto i = static_cast<std::size_t>(common); i < sections.size(); ++i) {
      out_ += fmt::format("{:{}}{}:\n", "", 2 * i, sections[i]);
    }
    depth_ = sections.size();
    open_ = std::move(sections);
  }

  void line(std::size_t depth, std::string_view name, std::string_view value, const Origin& origin) {
    const std::string text = fmt::format("{:{}}{}: {}", "", 2 * depth, name, value);
    out_ += fmt::format("{:<56}  # {}\n", text, to_string(origin));
  }

  Config config_;
  std::string out_;
  std::vector<std::string> open_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print(const Config& config) { return Printer(config).run(); }

}  // namespace spillway::config
