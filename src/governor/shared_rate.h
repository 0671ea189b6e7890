// Several relays in front of one downstream: one computes, the others hold a share that expires. A share whose owner
// fell silent decays like a stale signal.
#pragma once

#include "base/time.h"

namespace spillway::governor {

class SharedRate {
 public:
  // events/s granted until `expires`.
  void grant(double rate, base::Instant expires);

  // events/s that may be used at `now`: the grant, then less and less. 0 before the first grant.
  double at(base::Instant now) const;

 private:
  double rate_ = 0;
  base::Instant expires_;
};

}  // namespace spillway::governor
