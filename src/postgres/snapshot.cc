#include "postgres/snapshot.h"

#include <algorithm>
#include <charconv>

namespace spillway::postgres {
namespace {

bool take_number(std::string_view& text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool Snapshot::sees(std::uint64_t xid) const {
  return xid < xmin || (xid < xmax && !std::ranges::binary_search(running, xid));
}

std::optional<Snapshot> parse_snapshot(std::string_view text) {
  if (text.empty()) text = kSeesNothing;
  Snapshot snapshot;
  if (!take_number(text, snapshot.xmin) || !take(text, ':')) return std::nullopt;
  if (!take_number(text, snapshot.xmax) || !take(text, ':')) return std::nullopt;
  if (snapshot.xmin == 0 || snapshot.xmax < snapshot.xmin) return std::nullopt;
  while (!text.empty()) {
    std::uint64_t xid = 0;
    if (!snapshot.running.empty() && !take(text, ',')) return std::nullopt;
    if (!take_number(text, xid)) return std::nullopt;
    if (!snapshot.running.empty() && xid <= snapshot.running.back()) return std::nullopt;
    snapshot.running.push_back(xid);
  }
  return snapshot;
}

std::vector<std::uint64_t> finished_between(const Snapshot& from, const Snapshot& to) {
  std::vector<std::uint64_t> finished;
  std::ranges::copy_if(from.running, std::back_inserter(finished), [&](std::uint64_t xid) { return to.sees(xid); });
  return finished;
}

}  // namespace spillway::postgres
