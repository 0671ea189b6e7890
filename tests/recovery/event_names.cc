#include "recovery/event_names.h"

#include <fmt/format.h>

#include <charconv>

namespace spillway::testing {
namespace {

constexpr std::string_view kBacklog = "00000000-0000-4000-8000-";
constexpr std::string_view kLive = "00000001-0000-4000-8000-";
constexpr std::size_t kDigits = 12;

}  // namespace

std::string to_uuid(const EventName& name) {
  return fmt::format("{}{:012x}", name.live ? kLive : kBacklog, name.number);
}

std::optional<EventName> event_name(std::string_view uuid) {
  const bool live = uuid.starts_with(kLive);
  if ((!live && !uuid.starts_with(kBacklog)) || uuid.size() != kLive.size() + kDigits) return std::nullopt;
  EventName name{live, 0};
  const auto [end, error] = std::from_chars(uuid.end() - kDigits, uuid.end(), name.number, 16);
  if (error != std::errc() || end != uuid.end()) return std::nullopt;
  return name;
}

}  // namespace spillway::testing
