// What the relay asks its surroundings to do. At most one of each kind is out at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/position.h"
#include "model/settlement.h"
#include "ports/outbox_store.h"

namespace spillway::relay {

struct ReadRequest {
  enum class Kind : std::uint8_t { kPage, kAgain, kKeysBehind, kKeyRows };

  Kind kind = Kind::kPage;
  model::Position from;  // kPage
  bool judge = false;    // kPage: the answer comes with judgements as of `as_of_unix_micros`
  std::int64_t as_of_unix_micros = 0;
  std::vector<std::int64_t> seqs;           // kAgain, ascending
  std::vector<ports::KeyBefore> keys;       // kKeysBehind: which of them have rows beyond one of the places?
  std::vector<ports::KeyAfter> keys_after;  // kKeyRows: their rows beyond one of the places
  std::vector<model::Position> places;      // kKeysBehind, kKeyRows
  std::string incarnation;
  ports::ReadLimits limits;
};

// One write to the ledger.
struct LedgerRequest {
  enum class Kind : std::uint8_t { kLoad, kSave, kRecord, kFinish, kReleased, kReleaseKeys, kHeldKeys };

  Kind kind = Kind::kLoad;
  ports::Fence fence;
  ports::SaveRequest save;                      // kSave
  std::vector<model::Settlement> settlements;   // kRecord
  std::vector<std::int64_t> seqs;               // kFinish
  std::vector<std::string> keys;                // kReleaseKeys
  ports::Holds holds = ports::Holds::kWaiting;  // kHeldKeys
  std::size_t limit = 0;                        // kReleased
};

struct LedgerAnswer {
  LedgerRequest::Kind kind = LedgerRequest::Kind::kLoad;
  base::Status status;
  ports::Loaded loaded;                     // kLoad
  std::vector<model::Settlement> released;  // kReleased
  std::vector<ports::HeldKey> keys;         // kHeldKeys
  std::int64_t count = 0;                   // kReleaseKeys
};

}  // namespace spillway::relay
