#include "config/references.h"

#include <fmt/format.h>

#include <vector>

#include "config/nearest.h"

namespace spillway::config {
namespace {

constexpr std::string_view kForms = "${env:NAME} or ${file:PATH}";
constexpr std::string_view kEscape = "write $${ where a plain ${ is meant";

std::unexpected<Misread> fault(std::string problem, std::string expected, std::string remedy) {
  return std::unexpected(
      Misread{.problem = std::move(problem), .expected = std::move(expected), .remedy = std::move(remedy)});
}

Read<std::string> from_environment(const std::string& name, const Sources& sources) {
  const auto found = sources.environment.find(name);
  if (found != sources.environment.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& entry : sources.environment) names.push_back(entry.first);
  auto misread = Misread{.problem = fmt::format("refers to the environment variable {}, which is not set", name),
                         .remedy = "set it, or write the value here"};
  misread.nearest = nearest(name, names);
  return std::unexpected(misread);
}

Read<std::string> from_file(const std::string& path, const Sources& sources) {
  auto content = sources.read_file(path);
  if (!content) {
    return fault(fmt::format("refers to the file {}, which cannot be read ({})", path, content.error().message), "",
                 "create it, or correct the path");
  }
  if (content->ends_with('\n')) content->pop_back();
  if (content->ends_with('\r')) content->pop_back();
  if (content->find('\0') != content->npos) {
    return fault(fmt::format("refers to the file {}, which holds binary data", path), "a text file", "");
  }
  return *content;
}

Read<std::string> resolve(std::string_view reference, const Sources& sources) {
  const auto colon = reference.find(':');
  const auto kind = reference.substr(0, colon);
  const std::string target(colon == reference.npos ? "" : reference.substr(colon + 1));
  if (target.empty() || (kind != "env" && kind != "file")) {
    return fault("holds a reference of an unknown form", std::string(kForms), std::string(kEscape));
  }
  return kind == "env" ? from_environment(target, sources) : from_file(target, sources);
}

}  // namespace

Read<std::string> expand(std::string_view text, const Sources& sources) {
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("$${")) {
      result += "${";
      text.remove_prefix(3);
    } else if (text.starts_with("${")) {
      const auto end = text.find('}');
      if (end == text.npos)
        return fault("holds a reference without its closing }", std::string(kForms), std::string(kEscape));
      const auto value = resolve(text.substr(2, end - 2), sources);
      if (!value) return value;
      result += *value;
      text.remove_prefix(end + 1);
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

std::string escape_references(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) result += '$';
    result += text[i];
  }
  return result;
}

}  // namespace spillway::config
