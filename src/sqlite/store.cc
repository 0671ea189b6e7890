#include "sqlite/store.h"

#include <fmt/format.h>

#include "sqlite/inspect.h"
#include "sqlite/lease_session.h"
#include "sqlite/ledger.h"
#include "sqlite/operator_session.h"
#include "sqlite/reader.h"
#include "sqlite/triage_session.h"

namespace spillway::sqlite {

base::Result<std::vector<std::string>> OutboxStore::inspect() { return inspect_file(options_); }

std::unique_ptr<ports::OutboxReader> OutboxStore::open_reader() { return std::make_unique<Reader>(options_); }
std::unique_ptr<ports::OutboxLedger> OutboxStore::open_ledger() { return std::make_unique<Ledger>(options_); }
std::unique_ptr<ports::LeaseSession> OutboxStore::open_lease() { return std::make_unique<LeaseSession>(options_); }
std::unique_ptr<ports::OperatorSession> OutboxStore::open_operator() {
  return std::make_unique<OperatorSession>(options_);
}
std::unique_ptr<ports::TriageSession> OutboxStore::open_triage() { return std::make_unique<TriageSession>(options_); }

std::string OutboxStore::describe() const { return fmt::format("SQLite {}", options_.path); }

}  // namespace spillway::sqlite
