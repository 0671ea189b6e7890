// For tests: a fresh outbox file of its own, and a writer that knows nothing of Spillway.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "sqlite/connection.h"
#include "sqlite/schema.h"
#include "sqlite/store.h"

namespace spillway::sqlite {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spillway-sqlite-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline constexpr std::chrono::milliseconds kPatience{10'000};

inline void execute(const std::string& path, const std::string& sql) {
  Connection(path, kPatience, OpenMode::kCreate).execute(sql);
}

inline std::string value_of(const std::string& path, const std::string& sql) {
  Connection connection(path, kPatience);
  auto row = connection.use(sql.c_str());
  return row.step() ? std::string(row.text(0)) : "";
}

// Adds `count` events with keys k0..k9.
inline void write_events(const std::string& path, int count) {
  execute(path,
          "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload)"
          " WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
              std::to_string(count) +
              ") SELECT 'order', 'k' || (i % 10), 'order.created', '{\"i\":' || i || '}' FROM n");
}

inline std::vector<std::int64_t> seqs_of(const model::Page& page) {
  std::vector<std::int64_t> seqs;
  for (const auto& row : page.rows) seqs.push_back(row.seq);
  return seqs;
}

// A file with the schema, and a store on it whose lease is held.
struct OutboxFile : ::testing::Test {
  void SetUp() override {
    const auto installed = install(path);
    ASSERT_TRUE(installed) << installed.error().message;
    ledger = store.open_ledger();
    reader = store.open_reader();
    lease = store.open_lease();
    people = store.open_operator();
    const auto held = lease->acquire(holder, "test", std::chrono::seconds(60));
    ASSERT_TRUE(held) << held.error().message;
    fence = {holder, held->lease.epoch, ledger->load()->incarnation};
  }

  base::Result<model::Page> read(const model::Position& from, ports::ReadLimits limits = {}) {
    return reader->read(from, fence.incarnation, limits);
  }

  ScratchFolder folder;
  std::string path = folder.file("app.db");
  OutboxStore store{{.path = path}};
  base::Uuid holder = base::random_uuid();
  ports::Fence fence;
  std::unique_ptr<ports::OutboxLedger> ledger;
  std::unique_ptr<ports::OutboxReader> reader;
  std::unique_ptr<ports::LeaseSession> lease;
  std::unique_ptr<ports::OperatorSession> people;
};

}  // namespace spillway::sqlite
