// An SQLite outbox with three events that wait for a person: seq 1 and 2 by rule "old", seq 3 refused by the broker.
#pragma once

#include "sqlite/scratch_outbox.h"

namespace spillway::console {

struct SettledOutbox : sqlite::OutboxFile {
  void SetUp() override {
    sqlite::OutboxFile::SetUp();
    sqlite::write_events(path, 3);
    const auto page = read({});
    ASSERT_TRUE(page) << page.error().message;
    std::vector<model::Settlement> settlements;
    for (const model::Row& row : page->rows) {
      const bool refused = row.seq == 3;
      settlements.push_back({.seq = row.seq,
                             .id = row.id,
                             .key = std::string(*row.aggregate_id),
                             .topic = "outbox.event.order",
                             .type = refused ? "order.closed" : "order.created",
                             .bytes = static_cast<std::int64_t>(row.bytes()),
                             .verdict = refused ? model::Verdict::kSetAside : model::Verdict::kReconcile,
                             .rule = refused ? "" : "old",
                             .reason = refused ? "too large" : "older than 24 h",
                             .who = "relay"});
      ids.push_back(base::to_string(row.id));
    }
    const auto recorded = ledger->record(fence, settlements);
    ASSERT_TRUE(recorded) << recorded.error().message;
  }

  std::vector<model::Settlement> open() { return people->settlements({}).value(); }

  std::vector<std::string> ids;
};

}  // namespace spillway::console
