// A pg_snapshot in its text form, "xmin:xmax:xip,xip": which transactions it sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::postgres {

// Sees nothing: where an outbox begins. (Transaction ids start at 3; 1 and 2 mark rows older than the cluster.)
inline constexpr char kSeesNothing[] = "1:1:";

struct Snapshot {
  std::uint64_t xmin = 1;
  std::uint64_t xmax = 1;              // the first id not yet given out then
  std::vector<std::uint64_t> running;  // ascending, between the two

  // As pg_visible_in_snapshot does.
  bool sees(std::uint64_t xid) const;
};

// Empty text is kSeesNothing. Digits, colons and commas only: what parses may stand in SQL as it is.
std::optional<Snapshot> parse_snapshot(std::string_view text);

// Those that `to` sees and that `from` had to leave out because they were still running.
std::vector<std::uint64_t> finished_between(const Snapshot& from, const Snapshot& to);

}  // namespace spillway::postgres
