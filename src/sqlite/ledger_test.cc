#include "sqlite/ledger.h"

#include <gtest/gtest.h>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;
using model::SettlementState;
using model::Verdict;
using Seqs = std::vector<std::int64_t>;

struct LedgerFile : OutboxFile {
  model::Settlement settlement(std::int64_t seq, Verdict verdict, SettlementState state = SettlementState::kOpen) {
    const auto page = reader->read_again(Seqs{seq}, fence.incarnation, {});
    model::Settlement made;
    made.seq = seq;
    made.id = page->rows.front().id;
    made.key = std::string(*page->rows.front().aggregate_id);
    made.topic = "outbox.event.order";
    made.type = page->rows.front().type;
    made.bytes = static_cast<std::int64_t>(page->rows.front().bytes());
    made.verdict = verdict;
    made.state = state;
    made.reason = "too large";
    made.who = "relay";
    return made;
  }

  void record(const std::vector<model::Settlement>& settlements) {
    const auto status = ledger->record(fence, settlements);
    ASSERT_TRUE(status) << status.error().message;
  }

  void save_all_read() {
    const auto page = read({}, {.rows = 100'000, .bytes = 1 << 30});
    const auto status = ledger->save(fence, {{page->next, {}}, 0, {}});
    ASSERT_TRUE(status) << status.error().message;
  }

  std::string state_of(std::int64_t seq) {
    return value_of(path, "SELECT state FROM spillway_settled WHERE seq = " + std::to_string(seq));
  }
};

TEST_F(LedgerFile, LoadsWhatWasSavedWithEveryInterval) {
  const ports::Progress progress{.live = {{"70", "90"}, 75},
                                 .backlog = {{.at = {{"0", "20"}, 13}, .began_unix_micros = 17, .judged = 15},
                                             {.at = {{"20", "70"}, std::nullopt}}},
                                 .read_up_to_unix_micros = 1'700'000'000'000'001,
                                 .capacity = 512.25};
  execute(path,
          "UPDATE sqlite_sequence SET seq = 100; INSERT INTO sqlite_sequence SELECT 'spillway_outbox', 100"
          " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence)");
  ASSERT_TRUE(ledger->save(fence, {progress, 5, {}}));
  EXPECT_EQ(store.open_ledger()->load()->progress, progress);
  const ports::Progress later{{{"90", ""}, std::nullopt}, {}};
  ASSERT_TRUE(ledger->save(fence, {later, 5, {}}));
  EXPECT_EQ(store.open_ledger()->load()->progress, later);
  EXPECT_EQ(people->figures()->published, 10);
}

TEST_F(LedgerFile, NothingIsWrittenWithoutTheLease) {
  write_events(path, 2);
  ASSERT_TRUE(ledger->record(fence, std::vector{settlement(1, Verdict::kSetAside, SettlementState::kReleased)}));
  for (auto stale : {ports::Fence{holder, fence.epoch + 1, fence.incarnation},
                     ports::Fence{base::random_uuid(), fence.epoch, fence.incarnation},
                     ports::Fence{holder, fence.epoch, "another"}}) {
    const auto expected = stale.incarnation == "another" ? ErrorClass::kLostPlace : ErrorClass::kLostLease;
    EXPECT_EQ(ledger->save(stale, {{{{"2", ""}, {}}, {}}, 2, {}}).error().error_class, expected);
    EXPECT_EQ(ledger->record(stale, std::vector{settlement(2, Verdict::kDiscard)}).error().error_class, expected);
    EXPECT_EQ(ledger->finish(stale, Seqs{1}).error().error_class, expected);
    EXPECT_EQ(ledger->clean_up(stale, std::chrono::seconds(0), 10).error().error_class, expected);
    EXPECT_EQ(ledger->release_keys(stale, std::vector<std::string>{"k0"}).error().error_class, expected);
  }
  EXPECT_EQ(ledger->load()->progress, ports::Progress{});
  EXPECT_EQ(state_of(1), "released");
  EXPECT_EQ(state_of(2), "");
  EXPECT_EQ(people->figures()->published, 0);
}

TEST_F(LedgerFile, ABatchThatFailsInTheMiddleLeavesNothing) {
  write_events(path, 2);
  execute(
      path,
      "CREATE TRIGGER boom BEFORE INSERT ON spillway_settled WHEN new.seq = 2 BEGIN SELECT raise(ABORT, 'boom'); END");
  EXPECT_FALSE(ledger->record(fence, std::vector{settlement(1, Verdict::kDiscard), settlement(2, Verdict::kDiscard)}));
  EXPECT_EQ(state_of(1), "");
  EXPECT_EQ(people->figures()->discarded, 0);
}

TEST_F(LedgerFile, RecordedRowsAreNotReadAndCountOnce) {
  write_events(path, 4);
  const std::vector batch{settlement(2, Verdict::kSetAside), settlement(3, Verdict::kDiscard, SettlementState::kDone)};
  record(batch);
  record(batch);
  EXPECT_EQ(seqs_of(*read({})), (Seqs{1, 4}));
  EXPECT_EQ(people->figures()->discarded, 1);
  EXPECT_EQ(people->figures()->open_settlements, 1);
  record({settlement(3, Verdict::kSetAside)});
  EXPECT_EQ(state_of(3), "done") << "history stays as it is";
}

TEST_F(LedgerFile, ReleasedRowsAreListedInOrderUntilFinished) {
  write_events(path, 5);
  record({settlement(4, Verdict::kSetAside, SettlementState::kReleased),
          settlement(2, Verdict::kSetAside, SettlementState::kReleased), settlement(3, Verdict::kSetAside)});
  auto released = ledger->released(0, 10);
  ASSERT_EQ(released->size(), 2U);
  EXPECT_EQ(released->front().seq, 2);
  EXPECT_EQ(ledger->released(2, 10)->front().seq, 4);
  EXPECT_EQ(ledger->released(0, 1)->size(), 1U);
  ASSERT_TRUE(ledger->finish(fence, Seqs{2, 3}));
  EXPECT_EQ(state_of(2), "done");
  EXPECT_EQ(state_of(3), "open");
}

TEST_F(LedgerFile, AKeyIsHeldUntilItsRowsAreFinished) {
  write_events(path, 12);
  record({settlement(1, Verdict::kSetAside), settlement(11, Verdict::kStopped), settlement(2, Verdict::kReconcile)});
  EXPECT_EQ(ledger->held_keys(ports::Holds::kStopKeyToo), (std::vector<ports::HeldKey>{{"k0", 1, 1, true}}));
  EXPECT_EQ(ledger->release_keys(fence, std::vector<std::string>{"k0"}), 1);
  EXPECT_EQ(ledger->release_keys(fence, std::vector<std::string>{"k0"}), 0);
  EXPECT_EQ(state_of(1), "open");
  ASSERT_TRUE(ledger->finish(fence, Seqs{11}));
  EXPECT_EQ(ledger->held_keys(ports::Holds::kStopKeyToo), (std::vector<ports::HeldKey>{{"k0", 1, 1, true}}));
}

TEST_F(LedgerFile, CleanupRemovesFinishedRowsInPiecesAndSparesOpenOnes) {
  write_events(path, 20);
  record({settlement(3, Verdict::kSetAside), settlement(4, Verdict::kSetAside, SettlementState::kReleased),
          settlement(5, Verdict::kDiscard, SettlementState::kDone)});
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 100), 0) << "nothing is finished yet";
  ASSERT_TRUE(ledger->save(fence, {{{{"0", "20"}, 12}, {}}, 12, {}}));
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 4), 4);
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 100), 6);
  EXPECT_EQ(value_of(path, "SELECT group_concat(seq) FROM (SELECT seq FROM spillway_outbox ORDER BY seq)"),
            "3,4,13,14,15,16,17,18,19,20");
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 100), 0);
}

TEST_F(LedgerFile, CleanupRemovesExactlyWhatItMayBeyondOnePiece) {
  write_events(path, 1'200);
  record({settlement(1, Verdict::kSetAside)});
  save_all_read();
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 700), 700);
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 10'000), 499);
  EXPECT_EQ(value_of(path, "SELECT group_concat(seq) FROM spillway_outbox"), "1");
}

TEST_F(LedgerFile, CleanupStopsBeforeTheOldestBacklog) {
  write_events(path, 20);
  ASSERT_TRUE(ledger->save(fence, {.progress = {.live = {{"15", ""}, {}},
                                                .backlog = {{.at = {{"5", "10"}, 7}}, {.at = {{"10", "15"}, {}}}}}}));
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::seconds(0), 100), 7);
}

TEST_F(LedgerFile, KeepCountsFromTheSavedPositionAndNotFromCreatedAt) {
  write_events(path, 10);
  execute(path, "UPDATE spillway_outbox SET created_at = 0");
  save_all_read();
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::hours(24), 100), 0);
  execute(path, "UPDATE spillway_finished SET at = at - 25 * 3600 * 1000");
  write_events(path, 10);
  save_all_read();
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::hours(24), 100), 10);
  EXPECT_EQ(value_of(path, "SELECT min(seq) FROM spillway_outbox"), "11");
  EXPECT_EQ(value_of(path, "SELECT count(*) FROM spillway_finished"), "2");
}

TEST_F(LedgerFile, PositionsForCleanupAreKeptOnceAnHour) {
  write_events(path, 3);
  save_all_read();
  save_all_read();
  EXPECT_EQ(value_of(path, "SELECT count(*) FROM spillway_finished"), "1");
}

TEST_F(LedgerFile, SaysSoWhenNewRowsWouldFallBehindTheSavedPosition) {
  write_events(path, 3);
  save_all_read();
  execute(path, "DELETE FROM sqlite_sequence");
  const auto loaded = ledger->load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_NE(loaded.error().message.find("set it to 3"), std::string::npos) << loaded.error().message;
}

TEST_F(LedgerFile, AWriterThatHoldsTheLockTooLongIsAPassingTrouble) {
  OutboxStore impatient({.path = path, .time_limit = std::chrono::milliseconds(20)});
  Connection writer(path, kPatience);
  const Transaction busy(writer, Transaction::Kind::kWrite);
  EXPECT_EQ(impatient.open_ledger()->save(fence, {}).error().error_class, ErrorClass::kTransient);
  EXPECT_TRUE(impatient.open_reader()->read({}, fence.incarnation, {})) << "reading goes on";
}

}  // namespace
}  // namespace spillway::sqlite
