// What one target of the bank counts, and the page that shows it. Any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace spillway::bank {

// Upper bounds in seconds, from 5 ms to 10 s, each a tenth above the one before; 400 ms is one of them.
std::vector<double> call_seconds_buckets();

class MetricsPage {
 public:
  MetricsPage();
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // A call came in. A service that completes nothing still shows by this that it lives.
  void arrive();
  // A call that was answered, late ones included.
  void observe(double seconds, bool in_time);
  // A call that was turned away; it has no latency.
  void refuse();

  // Prometheus text 0.0.4: bank_calls_total, bank_call_seconds and bank_call_errors_total.
  std::string text() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The same lines, every value NaN.
std::string with_values_not_a_number(const std::string& text);

}  // namespace spillway::bank
