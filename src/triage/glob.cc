#include "triage/glob.h"

namespace spillway::triage {

// Goes back to the last * only: an earlier one could not do better. Never more than pattern times text steps.
bool Glob::matches(std::string_view text) const {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string::npos;
  std::size_t resumed = 0;
  while (in_text < text.size()) {
    if (at < pattern_.size() && pattern_[at] == '*') {
      star = at++;
      resumed = in_text;
    } else if (at < pattern_.size() && pattern_[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star != std::string::npos) {
      at = star + 1;
      in_text = ++resumed;
    } else {
      return false;
    }
  }
  return pattern_.find_first_not_of('*', at) == std::string::npos;
}

}  // namespace spillway::triage
