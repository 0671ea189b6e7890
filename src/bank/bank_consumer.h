// A consumer as services have them: takes records in order, calls the bank for each, many calls at once, tries again
// what fails, and puts what keeps failing into a retry topic, to be read again later.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bank/bank.h"
#include "bank/inbox.h"
#include "bank/record_feed.h"
#include "sim/random.h"

namespace spillway::bank {

struct ConsumerOptions {
  FeedOptions feed;
  // Records being worked on, those that pause before another try included. Fewer than capacity x timeout keep a
  // stopped bank from collapsing under retries: then this is what protects it, and nothing else is tested.
  std::size_t in_hand = 200;
  base::Duration timeout = std::chrono::seconds(2);  // of a call
  int retries = 3;
  base::Duration retry_pause = std::chrono::milliseconds(500);  // at most; uniform from zero
  base::Duration retry_topic_pause = std::chrono::seconds(30);  // half as much more or less; uniform
  std::uint64_t seed = 1;
  // The name under which the bank knows a record's calls; its number where there is none. Consumer's thread.
  std::function<std::uint64_t(const Record&)> tag_of = {};
  // Both on the consumer's thread. Every record of the topic, those of the retry topic apart; `first`: not before.
  std::function<void(const Record&, bool first)> on_delivery = {};
  std::function<void(const Record&, base::Instant)> on_done = {};
};

struct ConsumerFigures {
  int partitions = 0;  // that it reads; 0 until the group has let it in
  std::int64_t unique = 0;
  std::int64_t duplicates = 0;
  std::int64_t inversions = 0;
  std::int64_t calls = 0;
  std::int64_t done = 0;
  std::int64_t given_up = 0;  // where there is no retry topic
  std::int64_t sent_to_retry_topic = 0;
  std::int64_t in_hand = 0;
  std::int64_t parked = 0;  // read from the retry topic, not due yet
};

class BankConsumer {
 public:
  // Begins at once, on a thread of its own. `bank` outlives it. Throws as RecordFeed does.
  BankConsumer(Bank& bank, ConsumerOptions options);
  ~BankConsumer();
  BankConsumer(const BankConsumer&) = delete;
  BankConsumer& operator=(const BankConsumer&) = delete;

  // Takes no more records; returns once the thread has ended, whatever is in hand.
  void stop();
  ConsumerFigures figures() const;
  // After stop().
  const Inbox& inbox() const { return inbox_; }

 private:
  using JobId = std::uint64_t;
  struct Job {
    Record record;
    int tries = 0;
  };
  template <typename What>
  struct Due {
    base::Instant at;
    What what;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  template <typename What>
  using Agenda = std::priority_queue<Due<What>, std::vector<Due<What>>, std::greater<>>;

  // What bank and consumer share; a late callback may outlive the consumer.
  struct Answers {
    std::mutex mutex;
    std::condition_variable came;
    std::vector<std::pair<JobId, Outcome>> list;
  };

  void work();
  void take_answers();
  void take_due();
  void take_record();
  void wait_for_answers();
  void begin(Record record);
  void call(JobId id);
  void settle(JobId id, Outcome outcome);
  void fail_for_good(const Record& record);
  bool room() const { return jobs_.size() < options_.in_hand; }
  void publish_figures();

  Bank& bank_;
  ConsumerOptions options_;
  RecordFeed feed_;
  sim::Random random_;
  Inbox inbox_;
  std::unordered_map<JobId, Job> jobs_;
  JobId next_job_ = 0;
  Agenda<JobId> pausing_;
  Agenda<Record> parked_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  ConsumerFigures counted_;  // the consumer's own copy
  mutable std::mutex figures_mutex_;
  ConsumerFigures figures_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace spillway::bank
