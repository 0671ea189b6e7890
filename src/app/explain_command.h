// `spillway explain` without an event: what the governor of the running relay decided lately, and why.
#pragma once

#include <iosfwd>

#include "app/inquiry.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct ExplainOptions {
  Inquiry inquiry{};
  bool json = false;  // --json
};

// 1 where no relay of this outbox answers: nobody else knows its decisions.
int run_explain_decisions(const ExplainOptions& options, const ports::OutboxStore& store, std::ostream& out,
                          std::ostream& err);

}  // namespace spillway::app
