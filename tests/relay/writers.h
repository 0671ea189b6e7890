// Services that write events as they should: business row and event in one transaction, the key's lock taken first.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {

struct WriterOptions {
  std::string uri;
  int writers = 16;
  int keys = 5'000;
  std::int64_t events = 200'000;  // committed ones, at least
  std::uint64_t seed = 1;
  int rollback_percent = 10;
  int slow_percent = 2;      // of the transactions stay open for a while after their events
  int longest_pause_ms = 0;  // between two transactions of a writer
};

// Each key has a counter of its own without gaps: the payload is "KEY N". Which events were committed is what the table
// says in the end. They write until `finish`; a writer whose server went away goes on with a new connection.
class Writers {
 public:
  // Creates the table of counters.
  explicit Writers(WriterOptions options);
  ~Writers();

  std::int64_t committed() const { return committed_; }
  // Lets them write until there are enough events, and waits for that.
  void finish();

 private:
  void work(int number);

  WriterOptions options_;
  std::atomic<std::int64_t> committed_ = 0;
  std::atomic<bool> finishing_ = false;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace spillway::testing
