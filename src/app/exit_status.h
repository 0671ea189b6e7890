// What every command returns.
#pragma once

#include <ostream>

#include "base/result.h"

namespace spillway::app {

constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;      // it did not work
constexpr int kExitWrongUsage = 2;  // or wrong configuration
constexpr int kExitBadAnswer = 3;   // it worked, and the answer is bad

// What a person has to change is 2; what the world has to, 1.
constexpr int exit_status_of(const base::Error& error) {
  const bool for_people =
      error.error_class == base::ErrorClass::kMisconfigured || error.error_class == base::ErrorClass::kRejected;
  return for_people ? kExitWrongUsage : kExitFailed;
}

// Says the error, and returns what the command returns then.
inline int failed(const base::Error& error, std::ostream& err) {
  err << error.message << '\n';
  return exit_status_of(error);
}

}  // namespace spillway::app
