// Figures as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::status {

std::string count_words(std::int64_t count);  // 1,203,450
std::string span_words(double seconds);       // "0.3 s", "47 s", "3 min 20 s", "2 h 5 min", "4 d 3 h"
std::string rate_words(double per_second);    // "1,200/s", "0.4/s"
std::string bytes_words(std::int64_t bytes);  // "812 B", "31.4 MiB"

// "1 event", "2 events".
std::string counted(std::int64_t count, const char* noun);

// One line whatever it holds: control characters, line ends among them, become spaces.
std::string one_line(std::string text);

}  // namespace spillway::status
