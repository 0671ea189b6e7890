// The one description of every key: reading, validation, suggestions, the environment, reload and the reference come
// from it.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "config/field.h"
#include "config/formats.h"

namespace spillway::config {

// The object that a key's member is looked up in: the configuration, or an entry of one of its lists.
struct Subject {
  Config* config = nullptr;
  SignalConfig* signal = nullptr;
  TriageRule* rule = nullptr;
};

// Inclusive, in seconds, bytes, shares of one, or plain numbers.
struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  // `low` itself is excluded
};

// The kinds of signal that know a key, as bits.
constexpr unsigned bit(SignalKind kind) { return 1U << static_cast<unsigned>(kind); }
inline constexpr unsigned kEveryKind = 0x1f;

struct KeySpec {
  std::string_view name;  // path; entries of lists as `signals[].name`
  Field (*field)(Subject);
  std::string_view meaning;
  std::string_view none = {};           // the word for an optional member without value
  std::string_view type = {};           // where the member's type says too little: "URL"
  std::string_view shown_default = {};  // where the default is not a plain value
  Range range = {};
  Check check = nullptr;
  bool required = false;
  bool reload = false;                   // may change on SIGHUP
  bool secret = false;                   // never printed
  bool not_yet = false;                  // accepted, without effect in this release
  std::string_view choice_not_yet = {};  // the same for one of its words
  unsigned kinds = kEveryKind;
};

std::span<const KeySpec> key_table();

// By path, entries of lists as `signals[].name`; null where there is none.
const KeySpec* find_key(std::string_view name);

// The names that may follow `prefix` ("" is the top level).
std::vector<std::string_view> children_of(std::string_view prefix);

// The names that `outbox.columns` maps.
Names column_names();

}  // namespace spillway::config
