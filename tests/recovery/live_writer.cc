#include "recovery/live_writer.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <memory>
#include <unordered_map>

#include "recovery/event_names.h"
#include "sim/random.h"

namespace spillway::testing {
namespace {

constexpr int kHands = 2;
constexpr std::chrono::milliseconds kReconnectPause{20};  // a service's own

constexpr const char* kInsert =
    "insert into spillway.outbox (id, aggregatetype, aggregateid, type, payload) values ($1, $2, $3, $4, $5) "
    "on conflict (id) do nothing";

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// One connection with its keys.
class LiveWriter::Hand {
 public:
  Hand(const LiveWriterOptions& options, int number)
      : options_(options),
        number_(number),
        random_(options.seed * 1'000 + static_cast<std::uint64_t>(number)),
        connection_(nullptr, PQfinish) {}

  double pause(double rate) { return random_.exponential(kHands / rate); }

  // Until it is committed, or `give_up`: then it is not known whether it is.
  bool write(std::int64_t event, const std::atomic<bool>& give_up, Commit& commit) {
    const bool on_backlog_key = options_.backlog.events > 0 && random_.uniform() < options_.on_backlog_keys;
    const std::int64_t keys = on_backlog_key ? options_.backlog.keys : options_.other_keys;
    const std::int64_t mine = static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(keys / kHands)));
    const std::int64_t number = mine * kHands + number_;
    const std::string key = on_backlog_key ? options_.backlog.key(number) : fmt::format("l{}", number);
    const auto before = on_backlog_key ? options_.backlog.events_of_key(number) : 0;
    const std::int64_t of_key = ++counters_.try_emplace(key, before).first->second;
    const std::string id = to_uuid({true, event});
    const std::string payload = fmt::format("{} {}", key, of_key);
    const std::array<const char*, 5> values = {id.c_str(), options_.topic.c_str(), key.c_str(), options_.type.c_str(),
                                               payload.c_str()};
    while (!insert(values)) {
      if (give_up) return false;
      std::this_thread::sleep_for(kReconnectPause);
      connection_.reset(PQconnectdb(options_.uri.c_str()));
    }
    commit = {event, unix_ms(), on_backlog_key};
    return true;
  }

 private:
  bool insert(const std::array<const char*, 5>& values) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) return false;
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexecParams(connection_.get(), kInsert, 5, nullptr, values.data(), nullptr, nullptr, 0), PQclear);
    return PQresultStatus(result.get()) == PGRES_COMMAND_OK;
  }

  const LiveWriterOptions& options_;
  int number_;
  sim::Random random_;
  Connection connection_;
  std::unordered_map<std::string, std::int64_t> counters_;
};

LiveWriter::LiveWriter(LiveWriterOptions options)
    : options_(std::move(options)), origin_(std::chrono::steady_clock::now()) {
  for (int i = 0; i < kHands; ++i) threads_.emplace_back([this, i] { work(i); });
}

LiveWriter::~LiveWriter() { finish(); }

void LiveWriter::finish() {
  finish_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void LiveWriter::work(int number) {
  Hand hand(options_, number);
  std::vector<Commit> commits;
  double due = 0;
  while (!finish_) {
    const double rate = options_.live.offered(due);
    due += rate > 0 ? hand.pause(rate) : 1;
    std::this_thread::sleep_until(
        origin_ + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(due)));
    if (rate <= 0) continue;
    Commit commit;
    if (!hand.write(next_++, finish_, commit)) break;
    commits.push_back(commit);
    ++committed_;
  }
  const std::lock_guard lock(mutex_);
  commits_.insert(commits_.end(), commits.begin(), commits.end());
}

}  // namespace spillway::testing
