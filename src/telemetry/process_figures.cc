#include "telemetry/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace spillway::telemetry {
namespace {

// The fields of /proc/self/stat from the third on (proc(5)); the second, the name, may hold anything.
std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream rest(line.substr(end + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

std::optional<double> boot_unix_s() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

}  // namespace

ProcessFigures read_process_figures() {
  ProcessFigures figures;
  // proc(5) numbers from 1; fields[0] is number 3.
  const auto number = [fields = stat_fields()](std::size_t which) -> std::optional<double> {
    if (which - 3 >= fields.size()) return std::nullopt;
    try {
      return std::stod(fields[which - 3]);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (const auto user = number(14), system = number(15); user && system)
    figures.cpu_seconds = (*user + *system) / ticks;
  if (const auto threads = number(20)) figures.threads = static_cast<std::int64_t>(*threads);
  if (const auto start = number(22), boot = boot_unix_s(); start && boot) figures.start_unix_s = *boot + *start / ticks;
  if (const auto bytes = number(23)) figures.virtual_bytes = static_cast<std::int64_t>(*bytes);
  if (const auto pages = number(24)) figures.resident_bytes = static_cast<std::int64_t>(*pages) * sysconf(_SC_PAGESIZE);

  std::error_code error;
  std::int64_t fds = 0;
  for (auto at = std::filesystem::directory_iterator("/proc/self/fd", error); !error && at != decltype(at){};
       at.increment(error)) {
    ++fds;
  }
  if (!error) figures.open_fds = fds;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) figures.max_fds = static_cast<std::int64_t>(limit.rlim_cur);
  return figures;
}

}  // namespace spillway::telemetry
