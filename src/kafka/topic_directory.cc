#include "kafka/topic_directory.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "kafka/topic_query.h"
#include "spillway/resilience/backoff.h"
#include "spillway/resilience/random.h"

namespace spillway::kafka {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kAnswerLimit = 1000ms;
constexpr auto kConfigLimit = 300ms;
// Brokers that do not answer are asked again after ever longer pauses, other relays at other times.
const resilience::BackoffSettings kNoAnswer{
    .base = 250ms, .factor = 2.0, .cap = 2s, .jitter = resilience::Jitter::kFull};
constexpr auto kKnown = 60s;
constexpr auto kRefused = 30s;
// A topic that is being created on request is unknown for the first few hundred milliseconds.
constexpr int kAnswersBeforeMissing = 3;

Clock::duration pause_after(ports::TopicState state, int misses) {
  switch (state) {
    case ports::TopicState::kReady: return kKnown;
    case ports::TopicState::kRefused: return kRefused;
    default:
      if (misses <= kAnswersBeforeMissing) return 100ms * misses;
      return misses < 60 ? 1s : 5s;
  }
}

}  // namespace

struct TopicDirectory::State {
  struct Watched {
    std::string name;
    Clock::time_point due;
    int misses = 0;  // answers in a row that did not make it ready
  };

  explicit State(std::shared_ptr<Wakeup> wake) : wakeup(std::move(wake)) {}

  // Under the mutex.
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable ended;
  std::shared_ptr<Producer> producer;
  std::map<ports::TopicId, Watched> watched;
  std::vector<TopicNews> news;
  bool stopping = false;
  bool stopped = false;

  // The thread's own.
  std::shared_ptr<Wakeup> wakeup;
  Clock::time_point configs_due;

  void run();
  std::vector<std::pair<ports::TopicId, std::string>> due_now(std::unique_lock<std::mutex>& lock);
  std::vector<TopicNews> ask(Producer& through, const std::vector<std::pair<ports::TopicId, std::string>>& questions,
                             bool& answered);
  void add_configs(Producer& through, std::vector<TopicNews>& answers);
  void note(std::vector<TopicNews> answers);
};

// Waits until a topic is due; empty when stopping.
std::vector<std::pair<ports::TopicId, std::string>> TopicDirectory::State::due_now(std::unique_lock<std::mutex>& lock) {
  while (!stopping) {
    auto next = Clock::time_point::max();
    std::vector<std::pair<ports::TopicId, std::string>> due;
    if (producer) {
      const auto now = Clock::now();
      for (const auto& [id, topic] : watched) {
        if (topic.due <= now) due.emplace_back(id, topic.name);
        next = std::min(next, topic.due);
      }
    }
    if (!due.empty()) return due;
    if (next == Clock::time_point::max()) {
      changed.wait(lock);
    } else {
      changed.wait_until(lock, next);
    }
  }
  return {};
}

void TopicDirectory::State::run() {
  resilience::Backoff backoff(kNoAnswer);
  resilience::Random random(std::random_device{}());
  std::unique_lock lock(mutex);
  for (auto questions = due_now(lock); !questions.empty(); questions = due_now(lock)) {
    // A topic asked for again meanwhile is due again at once.
    for (const auto& [id, name] : questions) watched[id].due = Clock::time_point::max();
    std::shared_ptr<Producer> through = producer;
    lock.unlock();
    bool answered = true;
    std::vector<TopicNews> answers = ask(*through, questions, answered);
    add_configs(*through, answers);
    const Producer* const asked = through.get();
    through.reset();
    lock.lock();
    if (producer.get() == asked) note(std::move(answers));
    if (answered) backoff.reset();
    const Clock::duration pause = answered ? Clock::duration::zero() : backoff.next(random);
    const auto retry = Clock::now() + pause;
    for (const auto& [id, name] : questions) {
      if (watched[id].due == Clock::time_point::max()) watched[id].due = retry;
    }
    if (!answered && !stopping) changed.wait_for(lock, pause, [this] { return stopping; });
  }
  stopped = true;
  ended.notify_all();
}

std::vector<TopicNews> TopicDirectory::State::ask(Producer& through,
                                                  const std::vector<std::pair<ports::TopicId, std::string>>& questions,
                                                  bool& answered) {
  std::vector<TopicNews> answers;
  for (const auto& [id, name] : questions) {
    std::optional<ports::Topic> topic = ask_topic(through.handle(), name, kAnswerLimit);
    if (!topic) {
      answered = false;
      break;  // nobody answers: the others would only wait as long again
    }
    answers.push_back({.id = id, .topic = std::move(*topic), .max_message_bytes = {}, .compacted = false});
  }
  return answers;
}

void TopicDirectory::State::add_configs(Producer& through, std::vector<TopicNews>& answers) {
  if (Clock::now() < configs_due) return;
  std::vector<std::string> names;
  std::vector<TopicNews*> ready;
  {
    const std::lock_guard lock(mutex);
    for (TopicNews& answer : answers) {
      if (answer.topic.state != ports::TopicState::kReady) continue;
      names.push_back(watched[answer.id].name);
      ready.push_back(&answer);
    }
  }
  if (names.empty()) return;
  const auto configs = ask_configs(through.handle(), names, kConfigLimit);
  if (!configs) {
    configs_due = Clock::now() + kKnown;
    return;
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    ready[i]->max_message_bytes = (*configs)[i].max_message_bytes;
    ready[i]->compacted = (*configs)[i].compacted;
  }
}

// Under the mutex.
void TopicDirectory::State::note(std::vector<TopicNews> answers) {
  for (TopicNews& answer : answers) {
    Watched& topic = watched[answer.id];
    topic.misses = answer.topic.state == ports::TopicState::kReady ? 0 : topic.misses + 1;
    if (answer.topic.state == ports::TopicState::kMissing && topic.misses < kAnswersBeforeMissing) {
      answer.topic = {};
    }
    if (topic.due == Clock::time_point::max()) topic.due = Clock::now() + pause_after(answer.topic.state, topic.misses);
    news.push_back(std::move(answer));
  }
  if (!news.empty()) wakeup->signal();
}

TopicDirectory::TopicDirectory(std::shared_ptr<Wakeup> wakeup) : state_(std::make_shared<State>(std::move(wakeup))) {
  std::thread([state = state_] { state->run(); }).detach();
}

TopicDirectory::~TopicDirectory() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->producer.reset();
  state_->changed.notify_all();
  state_->ended.wait_for(lock, kAnswerLimit, [this] { return state_->stopped; });
}

void TopicDirectory::use(std::shared_ptr<Producer> producer) {
  const std::lock_guard lock(state_->mutex);
  state_->producer = std::move(producer);
  state_->news.clear();
  for (auto& [id, topic] : state_->watched) topic.due = Clock::now();
  state_->changed.notify_all();
}

void TopicDirectory::watch(ports::TopicId id, std::string name) {
  const std::lock_guard lock(state_->mutex);
  state_->watched[id] = {.name = std::move(name), .due = Clock::now()};
  state_->changed.notify_all();
}

void TopicDirectory::ask_again(ports::TopicId id) {
  const std::lock_guard lock(state_->mutex);
  state_->watched[id].due = Clock::now();
  state_->changed.notify_all();
}

std::vector<TopicNews> TopicDirectory::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->news, {});
}

}  // namespace spillway::kafka
