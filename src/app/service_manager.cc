#include "app/service_manager.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <time.h>

namespace spillway::app {

void ServiceManager::ready() const { sd_notify(0, "READY=1"); }
void ServiceManager::stopping() const { sd_notify(0, "STOPPING=1"); }
void ServiceManager::alive() const { sd_notify(0, "WATCHDOG=1"); }

void ServiceManager::reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1'000).c_str());
}

void ServiceManager::status(const std::string& line) const { sd_notify(0, fmt::format("STATUS={}", line).c_str()); }

std::optional<base::Duration> ServiceManager::watchdog() const {
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return std::nullopt;
  return std::chrono::microseconds(micros / 3);
}

}  // namespace spillway::app
