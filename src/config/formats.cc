#include "config/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "config/nearest.h"

namespace spillway::config {
namespace {

using Problem = std::optional<Misread>;

constexpr std::array<std::string_view, 4> kPlaceholders = {"aggregatetype", "aggregateid", "type", "id"};
constexpr std::string_view kPlaceholderList = "{aggregatetype}, {aggregateid}, {type} and {id}";
constexpr std::string_view kStoreForms = "postgresql://USER@HOST:PORT/DATABASE or sqlite:PATH";
constexpr std::string_view kPostgresForm = "postgresql://USER@HOST:PORT/DATABASE";
constexpr std::string_view kHttpForm = "http://HOST:PORT/PATH or https://…";

Problem wrong(std::string problem, std::string_view expected, std::string remedy = {}, std::string nearest = {}) {
  return Misread{.problem = std::move(problem),
                 .expected = std::string(expected),
                 .remedy = std::move(remedy),
                 .nearest = std::move(nearest)};
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_topic_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}

// HOST, HOST:PORT, [V6], [V6]:PORT; an empty host where `may_be_empty` (libpq then uses its default).
bool is_host_port(std::string_view text, bool may_be_empty) {
  std::string_view host = text;
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == text.npos) return false;
    host = text.substr(0, close + 1);
    rest = text.substr(close + 1);
  } else if (const auto colon = text.find(':'); colon != text.npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (host.empty() && !may_be_empty) return false;
  if (rest.empty()) return true;
  unsigned port = 0;
  const auto digits = rest.substr(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return rest[0] == ':' && error == std::errc{} && end == digits.data() + digits.size() && port >= 1 && port <= 65535;
}

Problem check_postgres_authority(std::string_view text, std::string_view expected) {
  auto authority = text.substr(text.find("://") + 3);
  if (std::ranges::any_of(text, is_space)) return wrong("holds white space", expected, "percent-encode it as %20");
  // libpq ends the user and password at the first '@', so a second one, or a '/' before it, belongs to a raw password.
  const auto stop = std::min(authority.find_first_of("/?"), authority.size());
  const bool raw_at = std::ranges::count(authority.substr(0, stop), '@') > 1;
  const auto later_at = authority.substr(0, authority.find('?')).find('@', stop);
  const bool raw_slash = authority.substr(0, stop).find('@') == authority.npos && later_at != authority.npos;
  if (raw_at || raw_slash) {
    return wrong("holds a password that is cut short by its own characters", expected,
                 "percent-encode / @ : ? # and % in it (%2F %40 %3A %3F %23 %25)");
  }
  authority = authority.substr(0, stop);
  if (const auto at = authority.find('@'); at != authority.npos) authority.remove_prefix(at + 1);
  while (true) {
    const auto comma = authority.find(',');
    if (!is_host_port(authority.substr(0, comma), true)) {
      return wrong("has no valid host and port", expected, "a port is a number from 1 to 65535");
    }
    if (comma == authority.npos) return {};
    authority.remove_prefix(comma + 1);
  }
}

Problem check_placeholders(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto expected = fmt::format("no other placeholders than {}", kPlaceholderList);
    if (text[i] == '}') return wrong("has a } without its {", expected);
    if (text[i] != '{') continue;
    const auto close = text.find('}', i);
    if (close == text.npos) return wrong("has a { without its }", expected);
    const auto name = text.substr(i + 1, close - i - 1);
    if (std::ranges::find(kPlaceholders, name) == kPlaceholders.end()) {
      const auto near = nearest(name, kPlaceholders);
      return wrong(fmt::format("has the unknown placeholder {{{}}}", name), expected, {},
                   near.empty() ? "" : fmt::format("{{{}}}", near));
    }
    i = close;
  }
  return {};
}

std::string without_placeholders(std::string_view text) {
  std::string literal;
  bool inside = false;
  for (const char c : text) {
    if (c == '{') inside = true;
    if (!inside) literal += c;
    if (c == '}') inside = false;
  }
  return literal;
}

Problem check_topic_characters(std::string_view text) {
  if (!std::ranges::all_of(text, is_topic_char) || text.size() > 249) {
    return wrong("is not a topic name", "at most 249 letters, digits, '.', '_' and '-'");
  }
  return {};
}

bool is_identifier(std::string_view part) {
  if (part.size() > 2 && part.front() == '"' && part.back() == '"') {
    return part.substr(1, part.size() - 2).find('"') == part.npos;
  }
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '$' || c >= 0x80; };
  return !part.empty() && std::isdigit(static_cast<unsigned char>(part[0])) == 0 && std::ranges::all_of(part, letter);
}

}  // namespace

Problem check_not_empty(std::string_view text) {
  if (text.empty()) return wrong("is empty", "some text");
  return {};
}

Problem check_postgres_url(std::string_view text) {
  if (text.empty()) return {};
  if (text.starts_with("postgresql://") || text.starts_with("postgres://")) {
    return check_postgres_authority(text, kPostgresForm);
  }
  return wrong("is not a PostgreSQL URL", kPostgresForm);
}

Problem check_store(std::string_view text) {
  if (text.starts_with("sqlite:")) {
    const auto path = text.substr(7);
    if (path.empty()) return wrong("names no file", kStoreForms);
    if (path.starts_with("//")) {
      const auto plain = path.substr(std::min(path.find_first_not_of('/'), path.size()));
      return wrong("has slashes before the path", kStoreForms,
                   fmt::format("write sqlite:/{0} for an absolute path, sqlite:{0} for a relative one", plain));
    }
    return {};
  }
  if (text.starts_with("postgresql://") || text.starts_with("postgres://")) {
    return check_postgres_authority(text, kStoreForms);
  }
  if (text.starts_with("jdbc:"))
    return wrong("is a JDBC URL", kStoreForms, "leave out jdbc: and put the user before the host");
  if (text.find("host=") != text.npos || text.find("dbname=") != text.npos) {
    return wrong("is a list of connection parameters", kStoreForms, "write it as a URL");
  }
  const auto scheme = text.substr(0, text.find(':'));
  constexpr std::array<std::string_view, 3> kSchemes = {"postgresql", "postgres", "sqlite"};
  const auto near = nearest(scheme, kSchemes);
  return wrong("is not the URL of a store", kStoreForms, {},
               near.empty()       ? ""
               : near == "sqlite" ? "sqlite:"
                                  : near + "://");
}

Problem check_http_url(std::string_view text) {
  if (!text.starts_with("http://") && !text.starts_with("https://")) return wrong("is not an HTTP URL", kHttpForm);
  auto authority = text.substr(text.find("://") + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  if (!is_host_port(authority, false) || std::ranges::any_of(text, is_space)) {
    return wrong("has no valid host and port", kHttpForm);
  }
  return {};
}

Problem check_table(std::string_view text) {
  const auto dot = text.starts_with('"') ? text.find('.', std::min(text.find('"', 1), text.size())) : text.find('.');
  const bool good = is_identifier(text.substr(0, dot)) && (dot == text.npos || is_identifier(text.substr(dot + 1)));
  if (good) return {};
  return wrong("is not the name of a table", "TABLE or SCHEMA.TABLE, a part with other characters in double quotes");
}

Problem check_name(std::string_view text) {
  if (!text.empty() && text.size() <= 64 && std::ranges::all_of(text, is_topic_char)) return {};
  return wrong("is not a name", "1 to 64 letters, digits, '_', '-' and '.'");
}

Problem check_topic(std::string_view text) {
  if (text.find_first_of("{}") != text.npos) {
    return wrong("holds a placeholder", "the name of one topic", "placeholders belong in route.topic");
  }
  if (text.empty() || text == "." || text == "..") return check_topic_characters("/");
  return check_topic_characters(text);
}

Problem check_topic_template(std::string_view text) {
  if (text.empty()) return check_not_empty(text);
  if (auto problem = check_placeholders(text)) return problem;
  if (text == "." || text == "..") return check_topic_characters("/");
  return check_topic_characters(without_placeholders(text));
}

Problem check_template(std::string_view text) {
  if (text.empty()) return check_not_empty(text);
  return check_placeholders(text);
}

}  // namespace spillway::config
