#include "signals/kafka_lag_source.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "kafka/group_query.h"
#include "kafka/wakeup.h"

namespace spillway::signals {
namespace {

// How long a question may be under way before its silence is said to be one; a topic each takes a timeout at worst.
constexpr int kTimeoutsOfPatience = 4;
constexpr auto kEndLimit = std::chrono::milliseconds(500);

}  // namespace

// Shared with the thread, which may outlive the source.
struct KafkaLagSource::Asking {
  using Answer = base::Result<std::vector<kafka::GroupPartition>>;

  std::unique_ptr<kafka::GroupQuery> query;  // the thread's
  std::chrono::milliseconds every{};
  std::chrono::milliseconds limit{};
  kafka::Wakeup wakeup;

  std::mutex mutex;
  std::condition_variable changed;
  // Under the mutex.
  std::optional<std::pair<base::Instant, Answer>> answer;
  bool stopping = false;
  bool stopped = false;

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      const auto next = std::chrono::steady_clock::now() + every;
      lock.unlock();
      Answer got = query->ask(limit);
      const base::Instant now = runtime::Loop::now();
      lock.lock();
      answer.emplace(now, std::move(got));
      wakeup.signal();
      changed.wait_until(lock, next, [this] { return stopping; });
    }
    lock.unlock();
    query.reset();
    lock.lock();
    stopped = true;
    changed.notify_all();
  }
};

base::Result<std::unique_ptr<KafkaLagSource>> KafkaLagSource::open(runtime::Loop& loop,
                                                                   const config::SignalConfig& config,
                                                                   const kafka::Properties& properties, Emit emit) {
  auto query = kafka::GroupQuery::create(properties, config.group);
  if (!query) return std::unexpected(query.error());
  auto asking = std::make_shared<Asking>();
  asking->query = std::move(*query);
  asking->every = std::chrono::duration_cast<std::chrono::milliseconds>(config.every);
  asking->limit = std::chrono::duration_cast<std::chrono::milliseconds>(config.timeout);
  std::thread([asking] { asking->run(); }).detach();
  return std::unique_ptr<KafkaLagSource>(new KafkaLagSource(loop, config, std::move(asking), std::move(emit)));
}

KafkaLagSource::KafkaLagSource(runtime::Loop& loop, const config::SignalConfig& config, std::shared_ptr<Asking> asking,
                               Emit emit)
    : patience_(config.every + kTimeoutsOfPatience * config.timeout),
      emit_(std::move(emit)),
      answered_at_(runtime::Loop::now()),
      asking_(std::move(asking)),
      watch_(loop, asking_->wakeup.fd(), [this] { take_answer(); }) {}

KafkaLagSource::~KafkaLagSource() {
  std::unique_lock lock(asking_->mutex);
  asking_->stopping = true;
  asking_->changed.notify_all();
  asking_->changed.wait_for(lock, kEndLimit, [this] { return asking_->stopped; });
}

void KafkaLagSource::take_answer() {
  asking_->wakeup.clear();
  std::optional<std::pair<base::Instant, Asking::Answer>> answer;
  {
    const std::lock_guard lock(asking_->mutex);
    answer = std::exchange(asking_->answer, std::nullopt);
  }
  if (!answer) return;
  answered_at_ = answer->first;
  if (!answer->second) {
    failure_ = answer->second.error().message;
    return;
  }
  failure_.reset();
  if (auto sample = windows_.answered(answer->first, *answer->second)) emit_(std::move(*sample));
}

std::string KafkaLagSource::trouble(base::Instant now) const {
  const base::Duration silent = base::elapsed(answered_at_, now);
  if (silent > patience_) {
    return fmt::format("a question to the brokers is under way for {:.0f} s without an answer", base::seconds(silent));
  }
  return failure_.value_or(windows_.trouble());
}

}  // namespace spillway::signals
