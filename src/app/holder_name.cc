#include "app/holder_name.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace spillway::app {
namespace {

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

std::string process_name() { return host() + "/" + std::to_string(getpid()); }

std::string person_name() {
  const passwd* entry = getpwuid(geteuid());
  return std::string(entry != nullptr ? entry->pw_name : std::to_string(geteuid())) + "@" + host();
}

}  // namespace spillway::app
