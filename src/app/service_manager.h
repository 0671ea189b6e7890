// Tells systemd how the service stands. Does nothing where it was not started by systemd (Type=notify).
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::app {

class ServiceManager {
 public:
  void ready() const;
  void stopping() const;
  void reloading() const;
  // One line, shown by `systemctl status`.
  void status(const std::string& line) const;
  void alive() const;
  // How often it wants to hear `alive`; empty = no watchdog.
  std::optional<base::Duration> watchdog() const;
};

}  // namespace spillway::app
