#include "governor/error_cause.h"

namespace spillway::governor {

namespace {
constexpr double kVisibleCut = 0.93;   // of the load when the errors began
constexpr double kNoEffect = 0.8;      // of the errors then
constexpr double kRiseWithLoad = 1.5;  // errors above this times the reference depend on load after all
constexpr double kOver = 0.5;          // of the ceiling: below it the errors are gone
constexpr int kCutsUntilSure = 2;
}  // namespace

void ErrorCause::forget() {
  watching_ = false;
  independent_ = false;
  cuts_without_effect_ = 0;
}

void ErrorCause::on_window(const Window& w) {
  if (w.slow || w.error_ratio < kOver * w.error_ceiling) return forget();
  if (independent_) {
    if (w.error_ratio > kRiseWithLoad * reference_errors_) forget();
    return;
  }
  if (!watching_) {
    if (w.error_ratio < w.error_ceiling) return;
    watching_ = true;
    reference_errors_ = w.error_ratio;
    reference_load_ = w.load;
    judged_at_ = w.t;
    return;
  }
  if (w.load > kVisibleCut * reference_load_ || w.t - judged_at_ < w.dead_time_s + 1) return;
  judged_at_ = w.t;
  if (w.error_ratio < kNoEffect * reference_errors_) return forget();
  independent_ = ++cuts_without_effect_ >= kCutsUntilSure;
}

}  // namespace spillway::governor
