#include "support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.h"
#include "support/temp_dir.h"

extern char** environ;

namespace spillway::testing {
namespace {

struct Credentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the first is the primary one
};

std::optional<Credentials> credentials_of(const std::string& user) {
  if (user.empty() || geteuid() != 0) return std::nullopt;
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no user " + user + " on this machine");
  int count = 64;
  Credentials credentials{entry->pw_uid, std::vector<gid_t>(static_cast<std::size_t>(count))};
  if (getgrouplist(user.c_str(), entry->pw_gid, credentials.groups.data(), &count) < 0) count = 1;
  credentials.groups.resize(static_cast<std::size_t>(count));
  credentials.groups[0] = entry->pw_gid;
  return credentials;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& additions) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!additions.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : additions) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything the child needs, prepared before the fork: between fork and exec only async-signal-safe calls are allowed.
struct Launch {
  explicit Launch(const ProcessOptions& options)
      : args(options.args),
        env(merged_environment(options.env)),
        arg_pointers(pointers_to(args)),
        env_pointers(pointers_to(env)),
        credentials(credentials_of(options.user)),
        working_dir(options.working_dir),
        out(options.out),
        err(options.err),
        death_signal(options.death_signal) {}

  std::vector<std::string> args;
  std::vector<std::string> env;
  std::vector<char*> arg_pointers;
  std::vector<char*> env_pointers;
  std::optional<Credentials> credentials;
  std::string working_dir;
  std::string out;
  std::string err;
  int death_signal;
  pid_t parent = getpid();
};

bool redirect(const char* path, int flags, int target) {
  const int fd = open(path, flags, 0644);
  if (fd < 0) return false;
  if (fd != target && (dup2(fd, target) < 0 || close(fd) != 0)) return false;
  return true;
}

// Returns only when something failed, with errno set.
void become(const Launch& launch) {
  if (setpgid(0, 0) != 0) return;
  if (!redirect("/dev/null", O_RDONLY, STDIN_FILENO)) return;
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  if (!launch.out.empty() && !redirect(launch.out.c_str(), kAppend, STDOUT_FILENO)) return;
  if (!launch.err.empty() && !redirect(launch.err.c_str(), kAppend, STDERR_FILENO)) return;
  if (launch.err.empty() && !launch.out.empty() && dup2(STDOUT_FILENO, STDERR_FILENO) < 0) return;
  if (launch.credentials) {
    const auto& [uid, groups] = *launch.credentials;
    if (setgroups(groups.size(), groups.data()) != 0 || setgid(groups[0]) != 0 || setuid(uid) != 0) return;
  }
  if (!launch.working_dir.empty() && chdir(launch.working_dir.c_str()) != 0) return;
  // After the change of user, which clears it.
  if (prctl(PR_SET_PDEATHSIG, launch.death_signal) != 0) return;
  if (getppid() != launch.parent) _exit(127);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(launch.arg_pointers[0], launch.arg_pointers.data(), launch.env_pointers.data());
}

// 'T' once every thread of a process has stopped.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos ? '\0' : text[end_of_name + 2];
}

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Process::Process(const ProcessOptions& options) {
  if (options.args.empty()) throw std::runtime_error("no program given");
  const Launch launch(options);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  pid_ = fork();
  if (pid_ == 0) {
    become(launch);
    const int reason = errno;
    [[maybe_unused]] const auto written = write(failure[1], &reason, sizeof reason);
    _exit(127);
  }
  close(failure[1]);
  int reason = 0;
  const bool failed = pid_ > 0 && read(failure[0], &reason, sizeof reason) == sizeof reason;
  close(failure[0]);
  if (pid_ > 0 && !failed) return;
  if (failed) waitpid(pid_, nullptr, 0);
  throw std::runtime_error("cannot start " + options.args[0] + ": " + std::strerror(failed ? reason : errno));
}

Process::~Process() { kill9(); }

bool Process::running() { return !wait(std::chrono::milliseconds(0)).has_value(); }

void Process::signal(int number) {
  if (running()) ::kill(pid_, number);
}

void Process::freeze() {
  signal(SIGSTOP);
  eventually([this] { return state_of(pid_) == 'T' || !running(); });
}

void Process::kill9() {
  if (end_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  wait(std::chrono::seconds(30));
}

std::optional<Process::End> Process::wait(std::chrono::milliseconds limit) {
  eventually(
      [this] {
        int status = 0;
        if (end_ || waitpid(pid_, &status, WNOHANG) != pid_) return end_.has_value();
        end_ = WIFSIGNALED(status) ? End{std::nullopt, WTERMSIG(status)} : End{WEXITSTATUS(status), std::nullopt};
        return true;
      },
      limit, std::chrono::milliseconds(2));
  return end_;
}

Finished run(ProcessOptions options, std::chrono::milliseconds limit) {
  const TempDir folder("run", options.user);
  options.out = folder.path() / "out";
  options.err = folder.path() / "err";
  Process process(options);
  const auto end = process.wait(limit);
  Finished finished{-1, content_of(options.out), content_of(options.err)};
  if (!end) {
    throw std::runtime_error(options.args[0] + " was not done after " + std::to_string(limit.count()) + " ms\n" +
                             finished.out + finished.err);
  }
  finished.exit_status = end->exit_status ? *end->exit_status : 128 + *end->signal;
  return finished;
}

}  // namespace spillway::testing
