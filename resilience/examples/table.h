// Rows of a Markdown table, as the reproductions print them and their README shows them.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace spillway::resilience::examples {

inline std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

inline std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

inline std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

}  // namespace spillway::resilience::examples
