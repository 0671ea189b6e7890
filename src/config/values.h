// Quantities of the configuration with their unit in the type.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::config {

struct Bytes {
  std::uint64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

// A share of the whole: 0.02 is 2 %.
struct Ratio {
  double value = 0;
  auto operator<=>(const Ratio&) const = default;
};

struct Rate {
  double per_second = 0;  // events
  auto operator<=>(const Rate&) const = default;
};

struct ListenAddress {
  std::string host;        // name or address; an IPv6 address without its brackets
  std::uint16_t port = 0;  // 0: any free port
  auto operator<=>(const ListenAddress&) const = default;
};

// Whether only this machine can connect: 127.0.0.0/8, ::1 and localhost.
bool is_loopback(const ListenAddress& address);

}  // namespace spillway::config
