// What every command returns.
#pragma once

namespace spillway::app {

constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;      // it did not work
constexpr int kExitWrongUsage = 2;  // or wrong configuration
constexpr int kExitBadAnswer = 3;   // it worked, and the answer is bad

}  // namespace spillway::app
