// How a command learns how an outbox is: from the store, then from the relay where its HTTP answers.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "ports/outbox_store.h"
#include "status/status.h"

namespace spillway::app {

struct Inquiry {
  status::Subject subject{};
  std::string relay{};                                           // host:port to ask; empty: nobody is asked
  std::chrono::milliseconds patience = std::chrono::seconds(1);  // with the relay
};

// The parts that come from the configuration.
Inquiry inquiry_of(const config::Config& config);

struct Findings {
  status::Status status;
  int exit_status = 0;  // of a store that does not answer
};

Findings inquire(const Inquiry& inquiry, ports::OutboxStore& store, ports::OperatorSession& session);

// The body that the relay answers a GET of `path` with. Fails where nobody is asked, nobody answers, or the status is
// not 200.
base::Result<std::string> ask_relay(const Inquiry& inquiry, const std::string& path);

}  // namespace spillway::app
