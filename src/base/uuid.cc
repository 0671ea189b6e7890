#include "base/uuid.h"

#include <sys/random.h>

#include <stdexcept>

namespace spillway::base {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::size_t kTextSize = 36;

constexpr bool dash_at(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void write_uuid(const Uuid& id, char* out) {
  std::size_t at = 0;
  for (std::uint8_t byte : id.bytes) {
    if (dash_at(at)) out[at++] = '-';
    out[at++] = kHex[byte >> 4];
    out[at++] = kHex[byte & 15];
  }
}

std::string to_string(const Uuid& id) {
  std::string text(kTextSize, '\0');
  write_uuid(id, text.data());
  return text;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid id;
  std::size_t byte = 0;
  for (std::size_t at = 0; at < kTextSize;) {
    if (dash_at(at)) {
      if (text[at++] != '-') return std::nullopt;
      continue;
    }
    const int high = nibble(text[at]);
    const int low = nibble(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[byte++] = static_cast<std::uint8_t>(high << 4 | low);
    at += 2;
  }
  return id;
}

Uuid random_uuid() {
  Uuid id;
  if (getrandom(id.bytes.data(), id.bytes.size(), 0) != static_cast<ssize_t>(id.bytes.size())) {
    throw std::runtime_error("the operating system's random generator gave no bytes");
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  return id;
}

}  // namespace spillway::base
