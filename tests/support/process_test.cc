#include "support/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/eventually.h"
#include "support/temp_dir.h"

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(Process, ReturnsWhatAProgramPrintedAndItsExitStatus) {
  const Finished finished =
      run({.args = {"sh", "-c", "echo out; echo $WORD >&2; exit 3"}, .env = {{"WORD", "spoken"}}});
  EXPECT_EQ(finished.exit_status, 3);
  EXPECT_EQ(finished.out, "out\n");
  EXPECT_EQ(finished.err, "spoken\n");
}

TEST(Process, SaysWhyAProgramCannotBeStarted) {
  EXPECT_THROW(Process({.args = {"/no/such/program"}}), std::runtime_error);
}

TEST(Process, KillsTheWholeGroupAtItsEnd) {
  const TempDir folder;
  const auto pid_file = folder.path() / "pid";
  pid_t grandchild = 0;
  {
    Process process({.args = {"sh", "-c", "sleep 1000 & echo $! > " + pid_file.string() + "; wait"}});
    ASSERT_TRUE(eventually([&] { return bool(std::ifstream(pid_file) >> grandchild); }));
    EXPECT_TRUE(alive(grandchild));
  }
  // Whoever adopted it may take a moment to collect it; a zombie no longer has a command line.
  EXPECT_TRUE(eventually([&] {
    std::ifstream cmdline("/proc/" + std::to_string(grandchild) + "/cmdline");
    return cmdline.peek() == std::ifstream::traits_type::eof();
  }));
}

TEST(Process, FreezesAndThaws) {
  const TempDir folder;
  const auto log = folder.path() / "log";
  Process process({.args = {"sh", "-c", "while :; do echo line; done"}, .out = log});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(log) && std::filesystem::file_size(log) > 0; }));
  process.freeze();
  const auto size = std::filesystem::file_size(log);
  EXPECT_FALSE(eventually([&] { return std::filesystem::file_size(log) != size; }, milliseconds(50)));
  process.thaw();
  EXPECT_TRUE(eventually([&] { return std::filesystem::file_size(log) != size; }));
}

TEST(Process, TellsASignalFromAnExit) {
  Process process({.args = {"sleep", "1000"}});
  EXPECT_FALSE(process.wait(milliseconds(1)).has_value());
  process.signal(SIGTERM);
  const auto end = process.wait(seconds(10));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_FALSE(end->exit_status.has_value());
}

TEST(Process, DiesWithTheProcessThatStartedIt) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Process process({.args = {"sleep", "1000"}});
    const pid_t pid = process.pid();
    [[maybe_unused]] const auto written = write(channel[1], &pid, sizeof pid);
    ::kill(getpid(), SIGKILL);
  }
  pid_t orphan = 0;
  ASSERT_EQ(read(channel[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  EXPECT_TRUE(eventually([&] {
    std::ifstream cmdline("/proc/" + std::to_string(orphan) + "/cmdline");
    return cmdline.peek() == std::ifstream::traits_type::eof();
  }));
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  ::close(channel[0]);
  ::close(channel[1]);
}

}  // namespace
}  // namespace spillway::testing
