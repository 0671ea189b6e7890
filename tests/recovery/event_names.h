// How the recovery tests tell their own events apart: by ids that say which lane they were written for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::testing {

struct EventName {
  bool live = false;
  std::int64_t number = 0;  // from 0, each lane for itself

  bool operator==(const EventName&) const = default;
};

std::string to_uuid(const EventName& name);
// Nothing where the id is none of ours.
std::optional<EventName> event_name(std::string_view uuid);

}  // namespace spillway::testing
