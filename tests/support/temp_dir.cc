#include "support/temp_dir.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace spillway::testing {
namespace {

// True where every folder on the way may be entered by users other than its owner.
bool anyone_may_enter(const std::filesystem::path& path) {
  for (auto folder = path; folder != folder.root_path(); folder = folder.parent_path()) {
    struct stat status {};
    if (stat(folder.c_str(), &status) == 0 && (status.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

}  // namespace

std::filesystem::path services_root() {
  const std::filesystem::path beside_the_build = SPILLWAY_SERVICES_ROOT;
  const bool reachable = geteuid() != 0 || anyone_may_enter(beside_the_build);
  const std::filesystem::path root = reachable ? beside_the_build : "/var/tmp/spillway-services";
  std::filesystem::create_directories(root);
  return root;
}

TempDir::TempDir(const std::string& name, const std::string& user) {
  std::string pattern = services_root() / (name + "-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  path_ = pattern;
  if (user.empty() || geteuid() != 0) return;
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no user " + user + " on this machine");
  if (chown(path_.c_str(), entry->pw_uid, entry->pw_gid) != 0) {
    throw std::system_error(errno, std::generic_category(), "chown " + pattern);
  }
}

TempDir::~TempDir() {
  if (std::getenv("SPILLWAY_KEEP") != nullptr) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace spillway::testing
