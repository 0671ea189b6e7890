// The rate that leads to the wanted queue, given what is already on the way (Smith, "Closer control of loops with dead
// time", 1957): a controller that does not count what it sent during the dead time corrects the same error again and
// again.
#pragma once

#include <algorithm>

namespace spillway::governor {

constexpr double kQueueCorrectionS = 2.5;  // an error of the queue is worked off within this time

struct QueueModel {
  double capacity = 0;        // events/s
  double room = 0;            // share of it left free
  double queue = 0;           // events waiting now
  double wanted_queue = 0;    // events that may wait
  double sent_in_flight = 0;  // events sent during the last dead time
  double dead_time_s = 1;
  bool saturated = false;
};

inline double predicted_queue(const QueueModel& m) {
  const double surplus = m.sent_in_flight - m.capacity * m.dead_time_s;
  return std::max(m.queue + surplus, m.saturated ? 0.2 * m.queue : 0.0);
}

// events/s
inline double predicted_rate(const QueueModel& m) {
  return m.capacity * (1 - m.room) + (m.wanted_queue - predicted_queue(m)) / kQueueCorrectionS;
}

}  // namespace spillway::governor
