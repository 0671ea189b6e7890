// A set of settled events that a person means, fixed before anything is done to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/outbox_store.h"

namespace spillway::console {

// So many at once at most; the rest is left for another time, which the preview says.
constexpr std::size_t kMostAtOnce = 100'000;

struct Preview {
  std::vector<model::Settlement> events;  // open ones, ascending by seq
  bool more = false;                      // the filter matches more than kMostAtOnce
  std::optional<std::int64_t> oldest_unix_micros{};
  std::optional<std::int64_t> newest_unix_micros{};

  std::int64_t count() const { return static_cast<std::int64_t>(events.size()); }
  // Later arrivals are not meant; empty where nothing is selected.
  std::optional<std::int64_t> up_to_seq() const {
    return events.empty() ? std::nullopt : std::optional(events.back().seq);
  }
};

base::Result<Preview> preview(ports::OperatorSession& session, ports::SettlementFilter filter);

// Resolves what `preview` showed, and nothing that came later. The number of events changed: rows that were stopped
// behind these by their key come on top.
base::Result<std::int64_t> resolve(ports::OperatorSession& session, ports::SettlementFilter filter,
                                   const Preview& shown, model::Verdict verdict, const std::string& reason,
                                   const std::string& who);

// "30m", "2h" or "7d" before `now`, or a time: 2026-11-30, 2026-11-30T14:00:00Z. kRejected says what is expected.
base::Result<std::int64_t> parse_before(const std::string& text, std::int64_t now_unix_micros);

// kRejected names every text that is not an id.
base::Result<std::vector<base::Uuid>> parse_ids(const std::vector<std::string>& texts);

}  // namespace spillway::console
