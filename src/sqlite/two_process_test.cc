// Writers in processes of their own, with plain SQLite, beside a relay that reads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using Seqs = std::vector<std::int64_t>;

// A process that runs `work` and then waits to be killed. SQLite must not be carried across a fork, so children are
// made while this process has no connection open.
class Child {
 public:
  explicit Child(const std::function<void(const std::function<void()>& reached)>& work) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      int code = 1;
      try {
        work([&] { code = write(ends[1], "x", 1) == 1 ? 0 : 1; });
      } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        _exit(2);
      }
      _exit(code);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) kill_hard();
    close(pipe_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Blocks until the child called `reached`; false where it ended without.
  bool reached() {
    char byte;
    return ::read(pipe_, &byte, 1) == 1;
  }
  void kill_hard() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  bool ended() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

void insert_event(Connection& connection, const std::string& key, int number) {
  auto emit = connection.use(kEmit);
  const std::string payload = std::to_string(number);
  emit.bind("order").bind(key).bind("order.created").bind(payload).bind_null().step();
}

// Transactions of one to three events, every third rolled back; the payload counts what was committed.
void write_with_rollbacks(const std::string& path, const std::string& key, int transactions) {
  Connection connection(path, kPatience);
  connection.execute("PRAGMA synchronous=OFF");
  int committed = 0;
  for (int i = 0; i < transactions; ++i) {
    Transaction transaction(connection, Transaction::Kind::kWrite);
    const int events = 1 + i % 3;
    for (int event = 0; event < events; ++event) insert_event(connection, key, committed + event);
    if (i % 3 == 2) continue;
    transaction.commit();
    committed += events;
  }
}

TEST(TwoProcesses, EverythingFourWritersCommitIsReadOnceAndInOrder) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  ASSERT_TRUE(install(path));
  constexpr int kTransactions = 400;
  std::vector<std::unique_ptr<Child>> writers;
  for (int i = 0; i < 4; ++i) {
    writers.push_back(std::make_unique<Child>([&, i](const auto& reached) {
      write_with_rollbacks(path, "k" + std::to_string(i), kTransactions);
      reached();
    }));
  }

  OutboxStore store({.path = path});
  auto reader = store.open_reader();
  const auto incarnation = store.open_ledger()->load()->incarnation;
  std::map<std::string, int> next;
  model::Position at;
  std::int64_t last_seq = 0;
  for (bool over = false;;) {
    const auto page = reader->read(at, incarnation, {.rows = 7, .bytes = 1 << 20});
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& row : page->rows) {
      ASSERT_GT(row.seq, last_seq);
      last_seq = row.seq;
      ASSERT_EQ(row.payload, std::to_string(next[std::string(*row.aggregate_id)]++)) << *row.aggregate_id;
    }
    at = page->next;
    if (over && page->rows.empty()) break;
    // One more read after the last writer ended sees all that it committed.
    if (page->rows.empty()) over = std::ranges::all_of(writers, [](auto& writer) { return writer->ended(); });
  }
  for (auto& writer : writers) EXPECT_TRUE(writer->reached());
  ASSERT_EQ(next.size(), 4U);
  for (const auto& [key, count] : next) EXPECT_EQ(count, 134 * 1 + 133 * 2) << key;
}

TEST(TwoProcesses, AWriterKilledInsideItsTransactionLeavesNothingBehind) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  ASSERT_TRUE(install(path));
  write_events(path, 2);
  Child writer([&](const auto& reached) {
    Connection connection(path, kPatience);
    // Too small a cache: uncommitted pages reach the log on the disk.
    connection.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1");
    const Transaction open(connection, Transaction::Kind::kWrite);
    for (int i = 0; i < 2000; ++i) insert_event(connection, "k", i);
    reached();
    pause();
  });
  ASSERT_TRUE(writer.reached());
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 100'000U);

  OutboxStore store({.path = path});
  auto reader = store.open_reader();
  const auto incarnation = store.open_ledger()->load()->incarnation;
  auto page = reader->read({}, incarnation, {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(seqs_of(*page), (Seqs{1, 2}));
  writer.kill_hard();
  EXPECT_TRUE(reader->read(page->next, incarnation, {})->rows.empty());
  write_events(path, 1);
  EXPECT_EQ(seqs_of(*reader->read(page->next, incarnation, {})), (Seqs{3}));
}

TEST(TwoProcesses, CommitsThatAKilledProcessLeftInTheLogAreRead) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  ASSERT_TRUE(install(path));
  Child writer([&](const auto& reached) {
    Connection connection(path, kPatience);
    connection.execute("PRAGMA wal_autocheckpoint=0");
    for (int i = 0; i < 10; ++i) insert_event(connection, "k", i);
    reached();
    pause();
  });
  ASSERT_TRUE(writer.reached());
  writer.kill_hard();
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0U);
  OutboxStore store({.path = path});
  const auto incarnation = store.open_ledger()->load()->incarnation;
  EXPECT_EQ(store.open_reader()->read({}, incarnation, {})->rows.size(), 10U);
}

TEST(TwoProcesses, ALeaseOfAKilledHolderPassesOnWhenItRunsOut) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  ASSERT_TRUE(install(path));
  Child owner([&](const auto& reached) {
    OutboxStore store({.path = path});
    auto lease = store.open_lease();
    if (lease->acquire(base::random_uuid(), "owner", std::chrono::seconds(60))->mine) reached();
    pause();
  });
  ASSERT_TRUE(owner.reached());
  owner.kill_hard();
  OutboxStore store({.path = path});
  auto lease = store.open_lease();
  const auto heir = base::random_uuid();
  EXPECT_FALSE(lease->acquire(heir, "heir", std::chrono::seconds(60))->mine);
  execute(path, "UPDATE spillway_lease SET expires_at = expires_at - 60000");
  const auto taken = lease->acquire(heir, "heir", std::chrono::seconds(60));
  EXPECT_TRUE(taken->mine);
  EXPECT_EQ(taken->lease.epoch, 2);
}

}  // namespace
}  // namespace spillway::sqlite
