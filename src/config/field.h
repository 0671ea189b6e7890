// A member of the configuration seen by its type: how to read it from text and write it back.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"
#include "config/quantity.h"

namespace spillway::config {

struct KeySpec;

// A member that holds one of a closed set of words.
struct ChoiceRef {
  void* member;
  Names names;
  int (*get)(const void*);
  void (*set)(void*, int);

  template <typename E>
  static ChoiceRef to(E& member) {
    return {&member, names_of<E>(), [](const void* from) { return static_cast<int>(*static_cast<const E*>(from)); },
            [](void* to, int index) { *static_cast<E*>(to) = static_cast<E>(index); }};
  }
};

// `url`: the list of one that `urls` is the many of.
struct SingleUrl {
  std::vector<std::string>* urls;
};

using Scalar = std::variant<bool*, std::int64_t*, double*, Rate*, std::optional<Rate>*, Duration*,
                            std::optional<Duration>*, Bytes*, Ratio*, std::optional<Ratio>*, std::string*,
                            std::optional<ListenAddress>*, ChoiceRef, SingleUrl>;
using Collection = std::variant<std::vector<std::string>*, std::map<std::string, std::string>*, KafkaConfig*,
                                std::vector<SignalConfig>*, std::vector<TriageRule>*>;
using Field = std::variant<Scalar, Collection>;

// Reads `text` into the member. On failure the member keeps its value.
std::optional<Misread> assign(const Scalar& member, std::string_view text, const KeySpec& spec);

// The text that reads back to the same value; empty for an optional member without value and without a word for it.
std::string format(const Scalar& member, const KeySpec& spec);

// "duration", "size", "share", "number", "text", …
std::string_view type_name(const Field& member);

// "1ms to 1h", "above 0", or empty.
std::string range_text(const KeySpec& spec, const Scalar& member);

}  // namespace spillway::config
