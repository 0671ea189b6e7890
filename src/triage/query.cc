#include "triage/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace spillway::triage {
namespace {

using ports::RowField;

constexpr std::string_view kExpected = "$aggregateid, $aggregatetype, $type, $id, $seq or $key";

std::optional<RowField> field_named(std::string_view name) {
  if (name == "aggregateid") return RowField::kAggregateId;
  if (name == "aggregatetype") return RowField::kAggregateType;
  if (name == "type") return RowField::kType;
  if (name == "id") return RowField::kId;
  if (name == "seq") return RowField::kSeq;
  if (name == "key") return RowField::kKey;
  return std::nullopt;
}

bool in_name(char c) {
  const auto between = [c](char first, char last) { return c >= first && c <= last; };
  return between('a', 'z') || between('A', 'Z') || between('0', '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  explicit Scanner(std::string_view sql) : sql_(sql) {}

  std::expected<ports::Predicate, std::string> run() {
    while (at_ < sql_.size()) {
      if (!step()) return std::unexpected(std::move(trouble_));
    }
    predicate_.pieces.push_back({std::move(text_)});
    return std::move(predicate_);
  }

 private:
  bool step() {
    const std::string_view rest = sql_.substr(at_);
    if (rest[0] == '\'') return quoted('\'', after_escape_mark());
    if (rest[0] == '"') return quoted('"', false);
    if (rest.starts_with("--")) return take(std::min(rest.find('\n'), rest.size()));
    if (rest.starts_with("/*")) return block_comment();
    if (rest[0] == '$' && (at_ == 0 || !in_name(sql_[at_ - 1]))) return dollar();
    return take(1);
  }

  bool take(std::size_t count) {
    text_ += sql_.substr(at_, count);
    at_ += count;
    return true;
  }

  bool fail(std::string trouble) {
    trouble_ = std::move(trouble);
    return false;
  }

  // PostgreSQL's E'…', in which a backslash takes the meaning from a quote.
  bool after_escape_mark() const {
    return at_ > 0 && (sql_[at_ - 1] == 'E' || sql_[at_ - 1] == 'e') && (at_ < 2 || !in_name(sql_[at_ - 2]));
  }

  // A doubled quote ends one text and begins the next, which comes to the same.
  bool quoted(char quote, bool escapes) {
    for (std::size_t end = at_ + 1; end < sql_.size(); ++end) {
      if (escapes && sql_[end] == '\\') {
        ++end;
      } else if (sql_[end] == quote) {
        return take(end + 1 - at_);
      }
    }
    return fail(fmt::format("has a {} without its end", quote));
  }

  // Nested, as PostgreSQL has them.
  bool block_comment() {
    int depth = 0;
    for (std::size_t end = at_; end + 1 < sql_.size(); ++end) {
      const std::string_view two = sql_.substr(end, 2);
      if (two == "/*" || two == "*/") {
        depth += two == "/*" ? 1 : -1;
        ++end;
      }
      if (depth == 0) return take(end + 1 - at_);
    }
    return fail("has a /* without its end");
  }

  bool dollar() {
    std::size_t end = at_ + 1;
    while (end < sql_.size() && in_name(sql_[end])) ++end;
    const std::string_view name = sql_.substr(at_ + 1, end - at_ - 1);
    const bool begins_text = end < sql_.size() && sql_[end] == '$' && (name.empty() || name[0] < '0' || name[0] > '9');
    if (begins_text) return dollar_quoted(sql_.substr(at_, end + 1 - at_));
    const auto field = field_named(name);
    if (!field) return fail(fmt::format("has the placeholder ${}; expected {}", name, kExpected));
    predicate_.pieces.push_back({std::move(text_), field});
    text_.clear();
    at_ = end;
    return true;
  }

  bool dollar_quoted(std::string_view tag) {
    const auto end = sql_.find(tag, at_ + tag.size());
    if (end == std::string_view::npos) return fail(fmt::format("has a {} without its end", tag));
    return take(end + tag.size() - at_);
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  std::string text_;
  std::string trouble_;
  ports::Predicate predicate_;
};

}  // namespace

std::expected<ports::Predicate, std::string> parse_query(std::string_view sql) {
  const auto last = sql.find_last_not_of(" \t\r\n;");
  if (last == std::string_view::npos) return std::unexpected("is empty");
  return Scanner(sql.substr(0, last + 1)).run();
}

}  // namespace spillway::triage
