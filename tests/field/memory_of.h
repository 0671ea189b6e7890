#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace spillway::testing {

// The memory that a process holds now, in MiB.
inline long resident_mib(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib / 1024;
  }
  return -1;
}

}  // namespace spillway::testing
