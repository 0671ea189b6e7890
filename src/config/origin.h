// Where a value of the configuration came from.
#pragma once

#include <compare>
#include <string>

namespace spillway::config {

// A place in a file; line and column count from 1, 0 means the file as a whole. `file` is the name it was loaded under.
struct Place {
  std::string file = {};
  int line = 0;
  int column = 0;

  auto operator<=>(const Place&) const = default;
};

struct Origin {
  enum class Kind { kDefault, kFile, kEnvironment };

  Kind kind = Kind::kDefault;
  Place place = {};           // kFile
  std::string variable = {};  // kEnvironment

  auto operator<=>(const Origin&) const = default;
};

// "spillway.yaml:3:10", or "spillway.yaml" where no line is known.
std::string to_string(const Place& place);

// "default", "spillway.yaml:3:10" or "environment SPILLWAY_OUTBOX_STORE".
std::string to_string(const Origin& origin);

}  // namespace spillway::config
