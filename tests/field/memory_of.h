#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace spillway::testing {

// A figure of /proc/PID/status in MiB; -1 where there is none.
inline long mib_of(pid_t process, const std::string& figure) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == figure + ":" && status >> kib) return kib / 1024;
  }
  return -1;
}

inline long resident_mib(pid_t process) { return mib_of(process, "VmRSS"); }
inline long peak_resident_mib(pid_t process) { return mib_of(process, "VmHWM"); }

}  // namespace spillway::testing
