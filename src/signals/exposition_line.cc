#include "signals/exposition_line.h"

#include <charconv>

namespace spillway::signals {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
bool is_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_space(char c) { return c == ' ' || c == '\t'; }

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool end() const { return at_ == text_.size(); }
  std::size_t at() const { return at_; }
  bool take(char c) {
    if (end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool spaces() {
    const std::size_t before = at_;
    while (!end() && is_space(text_[at_])) ++at_;
    return at_ > before;
  }
  std::string_view name() {
    const std::size_t from = at_;
    if (end() || !is_name_start(text_[at_])) return {};
    while (!end() && is_name(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  std::string_view word() {
    const std::size_t from = at_;
    while (!end() && !is_space(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  // After the opening quote; takes the closing one.
  std::optional<std::string> quoted() {
    std::string value;
    while (!end()) {
      const char c = text_[at_++];
      if (c == '"') return value;
      if (c != '\\') {
        value += c;
        continue;
      }
      if (end()) return std::nullopt;
      const char escaped = text_[at_++];
      if (escaped != 'n' && escaped != '\\' && escaped != '"') return std::nullopt;
      value += escaped == 'n' ? '\n' : escaped;
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// After the opening brace; takes the closing one.
bool read_labels(Cursor& cursor, SampleLine& line) {
  while (true) {
    cursor.spaces();
    if (cursor.take('}')) return true;
    const std::string_view name = cursor.name();
    cursor.spaces();
    if (name.empty() || !cursor.take('=')) return false;
    cursor.spaces();
    if (!cursor.take('"')) return false;
    auto value = cursor.quoted();
    if (!value) return false;
    line.labels.emplace_back(name, std::move(*value));
    cursor.spaces();
    if (cursor.take('}')) return true;
    if (!cursor.take(',')) return false;
  }
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<SampleLine> read_sample_line(std::string_view text) {
  SampleLine line;
  Cursor cursor(text);
  line.name = cursor.name();
  if (line.name.empty()) return std::nullopt;
  if (cursor.take('{') && !read_labels(cursor, line)) return std::nullopt;
  line.series = text.substr(0, cursor.at());
  cursor.spaces();
  const auto value = read_number(cursor.word());
  if (!value) return std::nullopt;
  line.value = *value;
  cursor.spaces();
  if (cursor.end() || cursor.take('#')) return line;
  if (!read_number(cursor.word())) return std::nullopt;  // a timestamp
  cursor.spaces();
  if (!cursor.end() && !cursor.take('#')) return std::nullopt;
  return line;
}

}  // namespace spillway::signals
