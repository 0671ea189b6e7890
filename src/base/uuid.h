// A 128-bit identifier in its canonical text form (RFC 9562): 36 characters, lower case.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::base {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
};

// Writes exactly 36 characters to `out`, without a terminator.
void write_uuid(const Uuid& id, char* out);

std::string to_string(const Uuid& id);

// Accepts the 36-character form in either case; anything else is empty.
std::optional<Uuid> parse_uuid(std::string_view text);

// Version 4, from the operating system's generator. For adapters: the core gets its identifiers as arguments.
Uuid random_uuid();

}  // namespace spillway::base
