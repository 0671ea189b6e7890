// Did you mean …?
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace spillway::config {

// The candidate closest to `word` by edits (insert, delete, replace, swap of neighbours; case, '-' and '_' count as
// equal), empty where none is close enough to be a likely slip: a third of the longer word's length, at least one edit.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace spillway::config
