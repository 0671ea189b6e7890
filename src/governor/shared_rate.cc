#include "governor/shared_rate.h"

#include "governor/blind.h"

namespace spillway::governor {

void SharedRate::grant(double rate, base::Instant expires) {
  rate_ = rate;
  expires_ = expires;
}

double SharedRate::at(base::Instant now) const { return decay(rate_, base::seconds(base::elapsed(expires_, now))); }

}  // namespace spillway::governor
