// Sets and maps of keys in which a key is looked up as it lies in a page, without a copy.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace spillway::relay {

struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};

using KeySet = std::unordered_set<std::string, KeyHash, std::equal_to<>>;
template <typename T>
using KeyMap = std::unordered_map<std::string, T, KeyHash, std::equal_to<>>;

}  // namespace spillway::relay
