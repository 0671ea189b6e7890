#include "console/desk.h"

namespace spillway::console {

bool Desk::submit(Ask ask) {
  if (*waiting_ >= kWaiting) return false;
  ++*waiting_;
  worker_.submit([this, ask = std::move(ask), waiting = std::weak_ptr(waiting_)] {
    Then then = ask(*session_);
    loop_.post([then = std::move(then), waiting] {
      const auto here = waiting.lock();
      if (!here) return;
      --*here;
      then();
    });
  });
  return true;
}

}  // namespace spillway::console
