// What is wrong with a configuration, as values: one a fault, all of them at once.
#pragma once

#include <string>
#include <string_view>

#include "config/origin.h"

namespace spillway::config {

enum class FaultKind {
  kFile,    // missing, unreadable, a directory, empty
  kSyntax,  // not YAML, tabs, several documents, tags
  kUnknownKey,
  kDuplicateKey,
  kMissing,    // a required key
  kWrongType,  // a list where text belongs, a word where a number belongs, a missing or wrong unit
  kOutOfRange,
  kUnknownChoice,
  kBadFormat,     // URL, template, name
  kBadReference,  // ${env:…} or ${file:…}
  kConflict,      // two keys that contradict each other
  kUnsafe,        // would break a promise of the product, or open it to the network
};

std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kSyntax;
  Origin origin = {};         // file place or environment variable
  std::string key = {};       // key path, empty where no key is concerned
  std::string value = {};     // as written, never a secret; may be empty
  std::string problem = {};   // "is not a duration"
  std::string expected = {};  // "a duration with a unit, such as 5s"; may be empty
  std::string nearest = {};   // full path of the key, or the word, that was probably meant; may be empty
  std::string remedy = {};    // what to do, where it is more than using what is expected; may be empty
};

// One line: "spillway.yaml:3:10: outbox.poll.idle is not a duration: 50; expected …".
std::string to_string(const Fault& fault);

// Accepted, but a person should know.
struct Warning {
  Origin origin = {};
  std::string key = {};
  std::string text = {};  // a clause that follows the key
};

// One line, in the form of a fault.
std::string to_string(const Warning& warning);

}  // namespace spillway::config
