#pragma once

#include <filesystem>
#include <string>

namespace spillway::testing {

// The folder under which all data of test services lies: build/services, or a folder in /var/tmp where the build folder
// cannot be entered by the user a service runs as (a checkout below root's home).
std::filesystem::path services_root();

// A fresh folder below services_root(), removed with everything in it at the end of the object, and kept for inspection
// when SPILLWAY_KEEP is set in the environment.
class TempDir {
 public:
  // `name` starts the folder's name. `user`, where given and where we are root, owns it.
  explicit TempDir(const std::string& name = "test", const std::string& user = "");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace spillway::testing
