#include "config/load.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>

#include "config/consistency.h"
#include "config/environment.h"
#include "config/reader.h"
#include "config/tree.h"

namespace spillway::config {
namespace {

// No configuration and no secret is larger; a wrong path may lead to anything.
constexpr std::uintmax_t kMaxFileSize = 1 << 20;

base::Result<std::string> read_real_file(const std::string& path) {
  const auto refuse = [](std::string why) { return base::fail(base::ErrorClass::kMisconfigured, std::move(why)); };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return refuse("it is a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return refuse(errno == ENOENT ? "no such file" : std::strerror(errno));
  std::string content;
  content.resize(kMaxFileSize + 1);
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (stream.bad()) return refuse(std::strerror(errno));
  content.resize(static_cast<std::size_t>(stream.gcount()));
  if (content.size() > kMaxFileSize) return refuse("it is larger than 1 MiB");
  return content;
}

std::set<std::string> keys_of(const std::vector<Fault>& faults) {
  std::set<std::string> keys;
  for (const Fault& fault : faults) keys.insert(fault.key);
  return keys;
}

}  // namespace

Sources process_sources() {
  Sources sources;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != text.npos) sources.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  sources.read_file = read_real_file;
  return sources;
}

LoadResult load_file(const std::string& path, const Sources& sources, const FurtherCheck& further) {
  const auto content = sources.read_file(path);
  if (content) return load_text(*content, path, sources, further);
  return std::unexpected(std::vector{Fault{.kind = FaultKind::kFile,
                                           .origin = {.kind = Origin::Kind::kFile, .place = {.file = path}},
                                           .problem = "cannot be read (" + content.error().message + ")",
                                           .remedy = "give the path of a readable YAML file with --config"}});
}

LoadResult load_text(std::string_view text, const std::string& name, const Sources& sources,
                     const FurtherCheck& further) {
  Tree tree = parse_tree(text, {.kind = Origin::Kind::kFile, .place = {.file = name}});
  if (!tree.root) return std::unexpected(std::move(tree.faults));
  Reader reader(sources);
  reader.faults() = std::move(tree.faults);
  reader.read(*tree.root);
  if (tree.root->kind != Node::Kind::kMap) return std::unexpected(std::move(reader.faults()));
  reader.read_environment();

  Config& config = reader.config();
  const bool own_table = config.origins.contains("outbox.table");
  if (!own_table && config.outbox.store_kind() == StoreKind::kSqlite) config.outbox.table = "spillway_outbox";
  for (std::size_t i = 0; i < config.signals.size(); ++i) {
    SignalConfig& signal = config.signals[i];
    const bool own_timeout = config.origins.contains("signals[" + std::to_string(i) + "].timeout");
    if (!own_timeout) signal.timeout = std::min(signal.timeout, signal.every);
  }

  std::vector<Fault>& faults = reader.faults();
  std::ranges::move(check_consistency(config, keys_of(faults), name), std::back_inserter(faults));
  if (further) {
    const std::set<std::string> faulty = keys_of(faults);
    std::ranges::copy_if(further(config, faulty), std::back_inserter(faults),
                         [&](const Fault& fault) { return !is_faulty(fault.key, faulty); });
  }
  if (!faults.empty()) {
    std::ranges::stable_sort(
        faults, {}, [](const Fault& fault) { return std::pair(fault.origin.place.line, fault.origin.place.column); });
    return std::unexpected(std::move(faults));
  }
  auto warnings = collect_warnings(config);
  std::ranges::move(unknown_variables(sources), std::back_inserter(warnings));
  return Loaded{std::move(config), std::move(warnings)};
}

}  // namespace spillway::config
