#include "postgres/store.h"

#include <fmt/format.h>

#include "postgres/inspect.h"
#include "postgres/lease_session.h"
#include "postgres/ledger.h"
#include "postgres/operator_session.h"
#include "postgres/pending_reader.h"
#include "postgres/reader.h"
#include "postgres/triage_session.h"

namespace spillway::postgres {

base::Result<std::vector<std::string>> OutboxStore::inspect() {
  Connection connection(options_.connect);
  auto warnings = inspect_outbox(connection, options_.outbox, options_.layout);
  if (!warnings || marks_rows()) return warnings;
  const auto indexed = has_key_index(connection, options_.layout);
  if (!indexed) return std::unexpected(indexed.error());
  finds_keys_ = *indexed;
  if (!*indexed) {
    warnings->push_back(fmt::format(
        "{0} has no index on ({1}, {2}) with {1} a text: live events and backlog are not told apart; "
        "create index concurrently on {3} ({4}, {5})",
        options_.layout.name(), options_.layout.aggregate_id, options_.layout.seq, options_.layout.qualified(),
        identifier(options_.layout.aggregate_id), identifier(options_.layout.seq)));
  }
  return warnings;
}

std::unique_ptr<ports::OutboxReader> OutboxStore::open_reader() {
  if (marks_rows()) return std::make_unique<PendingReader>(options_.connect, options_.outbox, options_.layout);
  return std::make_unique<Reader>(options_.connect, options_.outbox, options_.layout);
}

std::unique_ptr<ports::OutboxLedger> OutboxStore::open_ledger() {
  return std::make_unique<Ledger>(options_.connect, options_.outbox, options_.layout);
}

std::unique_ptr<ports::LeaseSession> OutboxStore::open_lease() {
  return std::make_unique<LeaseSession>(options_.connect, options_.outbox, options_.layout.name());
}

std::unique_ptr<ports::OperatorSession> OutboxStore::open_operator() {
  return std::make_unique<OperatorSession>(options_.connect, options_.outbox, options_.layout);
}

std::unique_ptr<ports::TriageSession> OutboxStore::open_triage() {
  return std::make_unique<TriageSession>(options_.connect, options_.outbox, options_.layout);
}

}  // namespace spillway::postgres
