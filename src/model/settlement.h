// What became of a row that was not simply published: the audit trail, and the side table that lets the cursor pass
// rows which are not finished where they stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/uuid.h"

namespace spillway::model {

enum class Verdict : std::uint8_t {
  kPublish,    // decided by a person or by a rule: goes to its topic
  kReconcile,  // a rule sent it to the reconcile topic; a person decides
  kDiscard,    // will not be sent
  kSetAside,   // the broker refuses it; a person decides
  kStopped,    // an earlier row of its key was set aside, and the route says stop_key
  kWaiting,    // a live row whose key still has backlog: nobody needs to do anything
};

constexpr const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPublish: return "publish";
    case Verdict::kReconcile: return "reconcile";
    case Verdict::kDiscard: return "discard";
    case Verdict::kSetAside: return "set_aside";
    case Verdict::kStopped: return "stopped";
    case Verdict::kWaiting: return "waiting";
  }
  return "unknown";
}

// kOpen needs a person, or its key to become free; kReleased is to be sent by the relay; kDone is history.
enum class SettlementState : std::uint8_t { kOpen, kReleased, kDone };

struct Settlement {
  std::int64_t seq = 0;
  base::Uuid id{};
  std::optional<std::string> key{};
  std::string topic{};
  std::string type{};
  std::int64_t bytes = 0;
  Verdict verdict = Verdict::kSetAside;
  SettlementState state = SettlementState::kOpen;
  std::string rule{};                  // empty unless a triage rule decided
  std::string reason{};                // one line for people
  std::string who{};                   // "relay" or the person
  std::int64_t since_unix_micros = 0;  // set by the store
};

}  // namespace spillway::model
