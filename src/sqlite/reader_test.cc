#include "sqlite/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;
using Seqs = std::vector<std::int64_t>;

TEST_F(OutboxFile, KeepsPayloadsByteForByte) {
  execute(path,
          "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload, headers, created_at) VALUES"
          " ('a', 'b', 'c', '{\"x\": 1.0}', '{\"h\":\"1\"}', 1500),"
          " ('a', 'b', 'c', x'00ff0a', NULL, '1970-01-01T00:00:02Z'),"
          " ('a', 'b', 'c', NULL, NULL, NULL),"
          " ('a', 'b', 'c', '', NULL, 'soon'),"
          " ('a', 'b', 'c', x'', NULL, 1500.25),"
          " ('a', 'b', 'c', 'null', NULL, 0)");
  const auto page = read({});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->rows.size(), 6U);
  EXPECT_EQ(page->rows[0].payload, "{\"x\": 1.0}");
  EXPECT_EQ(page->rows[0].headers, "{\"h\":\"1\"}");
  EXPECT_EQ(page->rows[0].created_at, model::Timestamp::at(1'500'000));
  EXPECT_EQ(page->rows[1].payload, std::string_view("\x00\xff\x0a", 3));
  EXPECT_EQ(page->rows[1].created_at, model::Timestamp::at(2'000'000));
  EXPECT_FALSE(page->rows[2].payload);
  EXPECT_FALSE(page->rows[2].headers);
  EXPECT_EQ(page->rows[2].created_at.kind, model::Timestamp::Kind::kNull);
  EXPECT_EQ(page->rows[3].payload, "");
  EXPECT_EQ(page->rows[3].created_at.kind, model::Timestamp::Kind::kNull);
  EXPECT_EQ(page->rows[4].payload, "");
  EXPECT_EQ(page->rows[4].created_at, model::Timestamp::at(1'500'250));
  EXPECT_EQ(page->rows[5].payload, "null");
}

TEST_F(OutboxFile, TheDefaultTimeIsTheClockThatPagesCarry) {
  write_events(path, 1);
  const auto page = read({});
  const auto created = page->rows[0].created_at.unix_micros;
  EXPECT_LE(created, page->db_now_micros);
  EXPECT_GT(created, page->db_now_micros - 60'000'000);
}

TEST_F(OutboxFile, PagesWithoutGapOrRepetitionUnderEveryLimit) {
  write_events(path, 57);
  for (const std::size_t rows : {1U, 2U, 7U, 56U, 57U, 58U}) {
    Seqs seen;
    model::Position at;
    for (int reads = 0; reads < 100; ++reads) {
      const auto page = read(at, {.rows = rows, .bytes = 1 << 20});
      ASSERT_TRUE(page) << page.error().message;
      EXPECT_LE(page->rows.size(), rows);
      for (auto seq : seqs_of(*page)) seen.push_back(seq);
      at = page->next;
      EXPECT_EQ(page->more, seen.size() < 57) << rows;
      if (!page->more) break;
    }
    ASSERT_EQ(seen.size(), 57U) << rows;
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  }
}

TEST_F(OutboxFile, ThePositionAfterAnyRowGoesOnBehindIt) {
  write_events(path, 5);
  const auto page = read({});
  write_events(path, 2);
  EXPECT_EQ(seqs_of(*read({page->frame, 3})), (Seqs{4, 5})) << "a frame keeps its members";
  EXPECT_EQ(seqs_of(*read(read({page->frame, 3})->next)), (Seqs{6, 7}));
  EXPECT_EQ(seqs_of(*read({{}, 3})), (Seqs{4, 5, 6, 7}));
}

TEST_F(OutboxFile, AnEmptyPageSaysWhereToAskAgain) {
  const auto empty = read({});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_TRUE(empty->rows.empty());
  EXPECT_FALSE(empty->more);
  write_events(path, 1);
  EXPECT_EQ(seqs_of(*read(empty->next)), (Seqs{1}));
}

TEST_F(OutboxFile, APageStopsAfterTheRowThatPassesTheByteLimit) {
  execute(path,
          "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload)"
          " VALUES ('a', 'b', 'c', zeroblob(5000000)), ('a', 'b', 'c', zeroblob(600)), ('a', 'b', 'c', zeroblob(600)),"
          " ('a', 'b', 'c', zeroblob(1))");
  const auto first = read({}, {.rows = 100, .bytes = 1000});
  EXPECT_EQ(seqs_of(*first), (Seqs{1}));
  EXPECT_TRUE(first->more);
  EXPECT_LT(first->arena.reserved(), 6'000'000U);
  const auto second = read(first->next, {.rows = 100, .bytes = 1000});
  EXPECT_EQ(seqs_of(*second), (Seqs{2, 3}));
  EXPECT_EQ(seqs_of(*read(second->next, {.rows = 100, .bytes = 1000})), (Seqs{4}));
}

TEST_F(OutboxFile, ReadsListedRowsAgainWithinTheLimits) {
  write_events(path, 6);
  execute(path, "DELETE FROM spillway_outbox WHERE seq = 4");
  const Seqs wanted{2, 4, 5, 6, 99};
  EXPECT_EQ(seqs_of(*reader->read_again(wanted, fence.incarnation, {})), (Seqs{2, 5, 6}));
  const auto limited = reader->read_again(wanted, fence.incarnation, {.rows = 2, .bytes = 1 << 20});
  EXPECT_EQ(seqs_of(*limited), (Seqs{2, 5}));
  EXPECT_TRUE(limited->more);
  EXPECT_EQ(reader->read_again(wanted, "another", {}).error().error_class, ErrorClass::kLostPlace);
}

TEST_F(OutboxFile, SeesNothingOfAnOpenTransactionAndAllOfItOnceCommitted) {
  Connection writer(path, kPatience);
  const std::string insert = "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type) VALUES ('a', 'b', 'c');";
  writer.execute("BEGIN; " + insert);
  writer.execute("SAVEPOINT s; " + insert + insert + "ROLLBACK TO s;" + insert);
  auto page = read({});
  EXPECT_TRUE(page->rows.empty());
  writer.execute("COMMIT");
  page = read(page->next);
  EXPECT_EQ(seqs_of(*page), (Seqs{1, 2}));
  writer.execute("BEGIN; " + insert + "ROLLBACK; " + insert);
  EXPECT_EQ(seqs_of(*read(page->next)), (Seqs{3}));
}

TEST_F(OutboxFile, ASeqIsNeverGivenOutAgainAfterCleanup) {
  write_events(path, 3);
  const auto page = read({});
  execute(path, "DELETE FROM spillway_outbox");
  write_events(path, 1);
  EXPECT_EQ(seqs_of(*read(page->next)), (Seqs{4}));
}

TEST_F(OutboxFile, ReplacingTheFileLosesThePlace) {
  write_events(path, 3);
  const std::string backup = folder.file("backup.db");
  execute(path, "VACUUM INTO '" + backup + "'");
  const auto page = read({});
  write_events(path, 2);
  std::filesystem::remove(path + "-wal");
  std::filesystem::remove(path + "-shm");
  std::filesystem::rename(backup, path);

  EXPECT_EQ(read(page->next).error().error_class, ErrorClass::kLostPlace);
  EXPECT_EQ(ledger->save(fence, {}).error().error_class, ErrorClass::kLostPlace);
  const auto loaded = ledger->load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_NE(loaded->incarnation, fence.incarnation);
  EXPECT_EQ(seqs_of(*reader->read(loaded->progress.live, loaded->incarnation, {})), (Seqs{1, 2, 3}));
}

TEST_F(OutboxFile, ContentPutBackInPlaceLosesThePlace) {
  write_events(path, 3);
  const auto page = read({});
  execute(
      path,
      "DELETE FROM spillway_outbox WHERE seq > 1; UPDATE sqlite_sequence SET seq = 1 WHERE name = 'spillway_outbox'");
  EXPECT_EQ(read(page->next).error().error_class, ErrorClass::kLostPlace);
}

TEST_F(OutboxFile, WaitsWhileTheFileIsAwayAndGoesOnWhenItIsBack) {
  write_events(path, 1);
  const auto page = read({});
  write_events(path, 1);
  execute(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string away = folder.file("away.db");
  std::filesystem::rename(path, away);
  EXPECT_EQ(read(page->next).error().error_class, ErrorClass::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::rename(away, path);
  EXPECT_EQ(seqs_of(*read(page->next)), (Seqs{2}));
}

}  // namespace
}  // namespace spillway::sqlite
