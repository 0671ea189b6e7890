// What the kernel says about this process, under the names that every Prometheus client uses.
#pragma once

#include <cstdint>
#include <optional>

namespace spillway::telemetry {

struct ProcessFigures {
  std::optional<double> cpu_seconds{};
  std::optional<double> start_unix_s{};
  std::optional<std::int64_t> resident_bytes{};
  std::optional<std::int64_t> virtual_bytes{};
  std::optional<std::int64_t> open_fds{};
  std::optional<std::int64_t> max_fds{};
  std::optional<std::int64_t> threads{};
};

// Reads /proc; what cannot be read is empty.
ProcessFigures read_process_figures();

}  // namespace spillway::telemetry
