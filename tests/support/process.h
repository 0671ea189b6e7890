#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spillway::testing {

struct ProcessOptions {
  std::vector<std::string> args;             // args[0] is the program, searched in PATH
  std::map<std::string, std::string> env{};  // added to our own environment
  std::filesystem::path working_dir{};       // empty: ours
  std::filesystem::path out{};               // standard output is appended here; empty: ours
  std::filesystem::path err{};               // standard error; empty: where standard output goes
  std::string user{};                        // run as this user where we are root; empty: as ourselves
  int death_signal = SIGKILL;                // sent by the kernel when the thread that started the process ends
};

// A child process in a process group of its own, with standard input from /dev/null. It never outlives the object (the
// group is killed), nor the thread that started it (death_signal): start processes from the test's main thread.
class Process {
 public:
  // How a process ended: exactly one of the two is set.
  struct End {
    std::optional<int> exit_status;
    std::optional<int> signal;
  };

  // Throws std::runtime_error when the program cannot be started.
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running();

  // To the process itself; nothing happens when it has ended.
  void signal(int number);
  void freeze();  // SIGSTOP; returns once every thread has stopped
  void thaw() { signal(SIGCONT); }
  void kill9();  // SIGKILL to the whole group; returns once the process is gone

  // How it ended, or nothing when it still runs after `limit`.
  std::optional<End> wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_ = -1;
  std::optional<End> end_;
};

struct Finished {
  int exit_status = -1;  // 128 + signal for a process that a signal ended, as in a shell
  std::string out;
  std::string err;
};

// Runs a program to its end and returns what it printed. Throws std::runtime_error when it is not done within `limit`.
Finished run(ProcessOptions options, std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace spillway::testing
