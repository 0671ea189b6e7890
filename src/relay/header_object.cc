#include "relay/header_object.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace spillway::relay {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// `json` is good.
std::string_view compact(std::string_view json, std::string& space) {
  if (std::ranges::none_of(json, blank)) return json;
  space.clear();
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') in_string = !in_string;
    if (in_string || !blank(json[i])) space += json[i];
    if (in_string && json[i] == '\\') space += json[++i];
  }
  return space;
}

}  // namespace

std::optional<HeaderObject::Member> HeaderObject::next(std::string& name_space, std::string& value_space) {
  if (bad_ || !begin_member()) return std::nullopt;
  Member member;
  const std::size_t name = at_;
  if (!skip_string()) return std::nullopt;
  member.name = text_of(json_.substr(name, at_ - name), name_space);
  skip_blanks();
  if (!take(':')) return std::nullopt;
  skip_blanks();
  const std::size_t value = at_;
  if (!skip_value(1)) return std::nullopt;
  const std::string_view raw = json_.substr(value, at_ - value);
  member.value = raw.front() == '"' ? text_of(raw, value_space) : compact(raw, value_space);
  return bad_ ? std::nullopt : std::optional(member);
}

// False at the end and where there is no member.
bool HeaderObject::begin_member() {
  skip_blanks();
  const bool first = !std::exchange(begun_, true);
  if (first && !take('{')) return false;
  skip_blanks();
  if (peek() == '}') {
    ++at_;
    skip_blanks();
    if (at_ < json_.size()) fail();
    return false;
  }
  if (!first && !take(',')) return false;
  skip_blanks();
  return true;
}

bool HeaderObject::fail() {
  bad_ = true;
  return false;
}

bool HeaderObject::take(char c) {
  if (peek() != c) return fail();
  ++at_;
  return true;
}

void HeaderObject::skip_blanks() {
  while (blank(peek())) ++at_;
}

bool HeaderObject::skip_value(int depth) {
  switch (peek()) {
    case '"': return skip_string();
    case '{': return skip_list('}', true, depth);
    case '[': return skip_list(']', false, depth);
    case 't': return skip_word("true");
    case 'f': return skip_word("false");
    case 'n': return skip_word("null");
    default: return skip_number();
  }
}

// What may follow a backslash is checked when the text is made.
bool HeaderObject::skip_string() {
  if (!take('"')) return false;
  for (; at_ < json_.size(); ++at_) {
    const char c = json_[at_];
    if (c == '"') return ++at_, true;
    if (static_cast<unsigned char>(c) < 0x20) return fail();
    if (c == '\\') ++at_;
  }
  return fail();
}

bool HeaderObject::skip_number() {
  if (peek() == '-') ++at_;
  const bool zero = peek() == '0';
  const std::size_t digits = at_;
  if (!skip_digits() || (zero && at_ - digits > 1)) return fail();
  if (peek() == '.' && (++at_, !skip_digits())) return false;
  if (peek() != 'e' && peek() != 'E') return true;
  ++at_;
  if (peek() == '+' || peek() == '-') ++at_;
  return skip_digits();
}

bool HeaderObject::skip_digits() {
  if (!digit(peek())) return fail();
  while (digit(peek())) ++at_;
  return true;
}

bool HeaderObject::skip_word(std::string_view word) {
  if (json_.substr(at_, word.size()) != word) return fail();
  at_ += word.size();
  return true;
}

bool HeaderObject::skip_list(char end, bool named, int depth) {
  if (depth >= kDeepest) return fail();
  ++at_;
  skip_blanks();
  if (peek() == end) return ++at_, true;
  for (;;) {
    skip_blanks();
    if (named) {
      if (!skip_string()) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
    }
    if (!skip_value(depth + 1)) return false;
    skip_blanks();
    if (peek() == end) return ++at_, true;
    if (!take(',')) return false;
  }
}

std::string_view HeaderObject::text_of(std::string_view quoted, std::string& space) {
  if (quoted.find('\\') == std::string_view::npos) return quoted.substr(1, quoted.size() - 2);
  const auto parsed = nlohmann::json::parse(quoted, nullptr, false);
  if (!parsed.is_string()) {
    fail();
    return {};
  }
  return space = parsed.get<std::string>();
}

}  // namespace spillway::relay
