#include "governor/base_shift.h"

namespace spillway::governor {

namespace {
constexpr double kTooPressed = 0.75;
constexpr double kLimited = 0.95;
constexpr double kUnchanged = 0.9;
}  // namespace

bool BaseShift::on_window(const Window& w) {
  if (!w.saturated || w.pressure > kTooPressed) {
    has_reference_ = false;
    limited_since_ = -1;
    return false;
  }
  if (w.load > kLimited * w.capacity) {
    has_reference_ = true;
    reference_wait_s_ = w.queue_wait_s;
    limited_since_ = -1;
    return false;
  }
  if (!has_reference_ || w.queue_wait_s < kUnchanged * reference_wait_s_) {
    limited_since_ = -1;
    return false;
  }
  if (limited_since_ < 0) limited_since_ = w.t;
  if (w.t - limited_since_ <= 2 * w.dead_time_s) return false;
  has_reference_ = false;
  limited_since_ = -1;
  return true;
}

}  // namespace spillway::governor
