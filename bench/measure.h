// What is measured, and of which process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace spillway::bench {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Peak resident memory so far, MiB.
double peak_rss_mib(pid_t pid);
// Processor time used so far, all threads, seconds.
double cpu_seconds(pid_t pid);

}  // namespace spillway::bench
