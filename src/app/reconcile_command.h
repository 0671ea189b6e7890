// `spillway reconcile list | show | publish | discard` and `spillway explain ID`: what was set aside, and what a person
// makes of it. Works on the store, relay up or not.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "model/settlement.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct SelectionOptions {
  std::vector<std::string> ids{};       // ID…
  std::string rule{};                   // --rule NAME: of triage
  std::string type{};                   // --type TYPE: of the event
  std::string before{};                 // --before AGE|TIME: set aside before then (2h, 2026-11-30T14:00:00Z)
  std::optional<std::int64_t> up_to{};  // --up-to SEQ: nothing later, as a preview printed it
  bool all = false;                     // --all: everything that is open
};

struct ReconcileListOptions {
  SelectionOptions selection{};
  std::int64_t limit = 1000;  // --limit N
  bool json = false;          // --json
};

struct ReconcileShowOptions {
  std::string id{};
  bool payload = false;  // --payload: show it as well
  bool json = false;     // --json
};

struct ReconcileActOptions {
  SelectionOptions selection{};
  std::string reason{};                   // --reason TEXT: kept
  std::string who{};                      // user@host
  std::optional<std::int64_t> confirm{};  // --confirm N: how many are meant; in scripts
  bool json = false;                      // --json
  std::istream* answers = nullptr;        // where a person is asked for the count; null: nobody is there
};

int run_reconcile_list(const ReconcileListOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err);
int run_reconcile_show(const ReconcileShowOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err);

// `verdict`: kPublish or kDiscard. Events named by id need no confirmation; a selection is shown first (count, age,
// upper bound) and changes nothing unless its count is confirmed.
int run_reconcile_act(const ReconcileActOptions& options, model::Verdict verdict, ports::OutboxStore& store,
                      std::ostream& out, std::ostream& err);

// Why one event was published by hand, set aside, stopped or discarded; without a record whether it was published or
// waits. 1 where there is no such event.
int run_explain(const ReconcileShowOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
