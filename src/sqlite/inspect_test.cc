#include "sqlite/inspect.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;

void expect_refused(const StoreOptions& options, const std::string& remedy) {
  const auto inspected = inspect_file(options);
  ASSERT_FALSE(inspected) << remedy;
  EXPECT_EQ(inspected.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_NE(inspected.error().message.find(remedy), std::string::npos) << inspected.error().message;
  EXPECT_NE(inspected.error().message.find(options.path), std::string::npos) << inspected.error().message;
}

TEST_F(OutboxFile, AFreshOutboxPassesInspectionWithoutAWord) {
  const auto inspected = store.inspect();
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_EQ(*inspected, std::vector<std::string>{});
}

TEST(Inspect, AMissingFileOrTableAsksForInitAndCreatesNothing) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  expect_refused({.path = path}, "run `spillway init`");
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  execute(path, "CREATE TABLE account (id INTEGER)");
  expect_refused({.path = path}, "has no outbox yet: run `spillway init`");
}

TEST(Inspect, SaysWhatIsWrongWithTheFile) {
  const ScratchFolder folder;
  expect_refused({.path = folder.path()}, "is a folder");
  const auto text = folder.file("notes.txt");
  std::ofstream(text) << std::string(5000, 'x');
  expect_refused({.path = text}, "not an SQLite database");
}

TEST_F(OutboxFile, NamesTheVersionThatDoesNotFit) {
  execute(path, "UPDATE spillway_schema SET version = 0");
  expect_refused({.path = path}, "version 0");
  execute(path, "UPDATE spillway_schema SET version = 99");
  expect_refused({.path = path}, "upgrade it");
}

TEST_F(OutboxFile, ASecondRelayUnderAnotherNameIsRefused) {
  ASSERT_TRUE(ledger->save(fence, {}));
  expect_refused({.path = path, .name = "copy"}, "set outbox.name to default");
}

TEST_F(OutboxFile, AFileWithoutWriteAccessIsRefused) {
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  } else {
    ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  }
  expect_refused({.path = path}, "give this user access");
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

TEST_F(OutboxFile, AFileNobodyElseMayReadIsRefused) {
  ledger.reset();
  reader.reset();
  lease.reset();
  people.reset();
  Connection hog(path, kPatience);
  hog.execute("PRAGMA locking_mode=EXCLUSIVE; DELETE FROM spillway_inbox");
  expect_refused({.path = path, .time_limit = std::chrono::milliseconds(20)}, "locking_mode");
}

TEST_F(OutboxFile, WarnsOfABusyWriterAndOfAnotherJournalMode) {
  {
    Connection writer(path, kPatience);
    const Transaction busy(writer, Transaction::Kind::kWrite);
    const auto inspected = inspect_file({.path = path, .time_limit = std::chrono::milliseconds(20)});
    ASSERT_TRUE(inspected) << inspected.error().message;
    EXPECT_EQ(inspected->size(), 1U);
  }
  ledger.reset();
  reader.reset();
  lease.reset();
  people.reset();
  execute(path, "PRAGMA journal_mode=DELETE");
  const auto inspected = store.inspect();
  ASSERT_TRUE(inspected) << inspected.error().message;
  ASSERT_EQ(inspected->size(), 1U);
  EXPECT_NE(inspected->front().find("WAL"), std::string::npos);
  EXPECT_EQ(install(path), Installed::kUpgraded);
  EXPECT_EQ(store.inspect(), std::vector<std::string>{});
}

}  // namespace
}  // namespace spillway::sqlite
