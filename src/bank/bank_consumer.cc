#include "bank/bank_consumer.h"

#include <utility>

#include "bank/clock.h"

namespace spillway::bank {
namespace {

// How long an answer or a due retry may lie while no record comes.
constexpr std::chrono::milliseconds kGlance{2};

base::Duration share_of(base::Duration whole, double share) {
  return std::chrono::duration_cast<base::Duration>(whole * share);
}

}  // namespace

BankConsumer::BankConsumer(Bank& bank, ConsumerOptions options)
    : bank_(bank), options_(std::move(options)), feed_(options_.feed), random_(options_.seed) {
  thread_ = std::thread([this] { work(); });
}

BankConsumer::~BankConsumer() { stop(); }

void BankConsumer::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

ConsumerFigures BankConsumer::figures() const {
  const std::lock_guard lock(figures_mutex_);
  return figures_;
}

void BankConsumer::publish_figures() {
  // Once there are some they stay: nobody else is in the group.
  if (counted_.partitions == 0) counted_.partitions = feed_.partitions();
  counted_.unique = inbox_.unique();
  counted_.duplicates = inbox_.duplicates();
  counted_.inversions = inbox_.inversions();
  counted_.in_hand = static_cast<std::int64_t>(jobs_.size());
  counted_.parked = static_cast<std::int64_t>(parked_.size());
  const std::lock_guard lock(figures_mutex_);
  figures_ = counted_;
}

void BankConsumer::work() {
  while (!stop_) {
    take_answers();
    take_due();
    if (room()) {
      take_record();
    } else {
      wait_for_answers();
    }
    publish_figures();
  }
}

void BankConsumer::take_answers() {
  std::vector<std::pair<JobId, Outcome>> answers;
  {
    const std::lock_guard lock(answers_->mutex);
    answers.swap(answers_->list);
  }
  for (const auto& [job, outcome] : answers) settle(job, outcome);
}

void BankConsumer::wait_for_answers() {
  std::unique_lock lock(answers_->mutex);
  answers_->came.wait_for(lock, kGlance, [this] { return !answers_->list.empty(); });
}

void BankConsumer::take_due() {
  const base::Instant at = now();
  while (!pausing_.empty() && pausing_.top().at <= at) {
    call(pausing_.top().what);
    pausing_.pop();
  }
  while (room() && !parked_.empty() && parked_.top().at <= at) {
    begin(parked_.top().what);
    parked_.pop();
  }
}

void BankConsumer::take_record() {
  auto record = feed_.next(kGlance);
  if (!record) return;
  if (record->retried) {
    const base::Duration pause = share_of(options_.retry_topic_pause, 0.5 + random_.uniform());
    parked_.push({now() + pause, std::move(*record)});
    return;
  }
  const bool first = inbox_.deliver(record->id, record->key, record->number);
  if (options_.on_delivery) options_.on_delivery(*record, first);
  begin(std::move(*record));
}

void BankConsumer::begin(Record record) {
  const JobId id = next_job_++;
  jobs_.emplace(id, Job{std::move(record)});
  call(id);
}

void BankConsumer::call(JobId id) {
  Job& job = jobs_.at(id);
  ++job.tries;
  ++counted_.calls;
  const Record& record = job.record;
  const auto tag = options_.tag_of ? options_.tag_of(record) : static_cast<std::uint64_t>(record.number);
  bank_.call(tag, options_.timeout, [answers = answers_, id](Outcome outcome) {
    const std::lock_guard lock(answers->mutex);
    answers->list.emplace_back(id, outcome);
    answers->came.notify_one();
  });
}

void BankConsumer::settle(JobId id, Outcome outcome) {
  const Job& job = jobs_.at(id);
  if (outcome == Outcome::kDone) {
    ++counted_.done;
    if (options_.on_done) options_.on_done(job.record, now());
  } else if (job.tries <= options_.retries) {
    pausing_.push({now() + share_of(options_.retry_pause, random_.uniform()), id});
    return;
  } else {
    fail_for_good(job.record);
  }
  jobs_.erase(id);
}

void BankConsumer::fail_for_good(const Record& record) {
  if (options_.feed.retry_topic.empty()) {
    ++counted_.given_up;
    return;
  }
  ++counted_.sent_to_retry_topic;
  feed_.send_to_retry_topic(record);
}

}  // namespace spillway::bank
