// The laws that steer by nothing: a fixed total, and no limit at all.
#pragma once

#include "governor/law.h"

namespace spillway::governor {

class FixedLaw final : public Law {
 public:
  explicit FixedLaw(GovernorSpec spec);

  Decision tick(base::Instant now, const TickInputs& in) override;

 private:
  GovernorSpec spec_;
};

// Ignores min and max.
class UnlimitedLaw final : public Law {
 public:
  explicit UnlimitedLaw(CauseKind cause) : cause_(cause) {}

  Decision tick(base::Instant now, const TickInputs& in) override;

 private:
  CauseKind cause_;
};

}  // namespace spillway::governor
