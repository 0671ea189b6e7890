// Lets the loop ask the store what people ask: one session on a thread of its own, so that a slow database does not
// stop the loop.
#pragma once

#include <functional>
#include <memory>

#include "ports/outbox_store.h"
#include "runtime/loop.h"
#include "runtime/worker.h"

namespace spillway::console {

class Desk {
 public:
  // Questions that wait, at most.
  static constexpr int kWaiting = 16;

  Desk(runtime::Loop& loop, ports::OutboxStore& store) : loop_(loop), session_(store.open_operator()) {}

  using Then = std::function<void()>;
  using Ask = std::function<Then(ports::OperatorSession&)>;

  // `ask` runs on the desk's thread; what it returns runs on the loop, unless the desk is gone by then. False where too
  // many wait already. Loop thread only.
  bool submit(Ask ask);

 private:
  runtime::Loop& loop_;
  std::shared_ptr<int> waiting_ = std::make_shared<int>(0);  // loop thread only
  std::unique_ptr<ports::OperatorSession> session_;
  runtime::Worker worker_{"console"};
};

}  // namespace spillway::console
