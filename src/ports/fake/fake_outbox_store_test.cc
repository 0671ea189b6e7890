#include "ports/fake/fake_outbox_store.h"

#include <rapidcheck.h>

#include "ports/contract/outbox_store_contract.h"

namespace spillway::ports {
namespace {

using base::ErrorClass;
using Seqs = std::vector<std::int64_t>;

class FakeOutboxBench final : public OutboxBench {
 public:
  OutboxStore& store() override { return store_; }
  std::int64_t insert(const NewRow& row) override { return store_.insert(as_fake(row)); }
  void insert_many(std::int64_t count, std::size_t payload_bytes) override {
    for (std::int64_t i = 0; i < count; ++i) {
      NewRow row;
      row.aggregate_id = "k-" + std::to_string(i % 10);
      row.payload = std::string(payload_bytes, 'x');
      insert(row);
    }
  }
  void insert_and_roll_back(const NewRow& row) override { store_.roll_back(store_.insert_open(as_fake(row))); }
  std::int64_t rows_in_table() override { return static_cast<std::int64_t>(store_.rows()); }
  Predicate query(const std::string& holds, const std::string& fails) override {
    store_.answer_queries([=](const Predicate&, const AskedRow& row) -> base::Result<bool> {
      if (row.aggregate_id == fails) return base::fail(ErrorClass::kRejected, "so it must be");
      return row.aggregate_id == holds;
    });
    return {};
  }

 private:
  static FakeRow as_fake(const NewRow& row) {
    return {row.aggregate_type, row.aggregate_id, row.type, row.payload, row.headers};
  }

  FakeOutboxStore store_;
};

INSTANTIATE_TEST_SUITE_P(Fake, OutboxStoreContract,
                         testing::Values([] { return std::make_unique<FakeOutboxBench>(); }));

struct FakeStore : testing::Test {
  FakeStore() {
    const auto taken = lease->acquire(holder, "test", std::chrono::seconds(10));
    fence = {holder, taken->lease.epoch, ledger->load()->incarnation};
  }

  model::Page read(const model::Position& from, ReadLimits limits = {}) {
    auto page = reader->read(from, fence.incarnation, limits);
    EXPECT_TRUE(page) << page.error().message;
    return page ? std::move(*page) : model::Page{};
  }
  static Seqs seqs_of(const model::Page& page) {
    Seqs seqs;
    for (const auto& row : page.rows) seqs.push_back(row.seq);
    return seqs;
  }

  FakeOutboxStore store;
  std::unique_ptr<OutboxReader> reader = store.open_reader();
  std::unique_ptr<OutboxLedger> ledger = store.open_ledger();
  std::unique_ptr<LeaseSession> lease = store.open_lease();
  std::unique_ptr<OperatorSession> people = store.open_operator();
  base::Uuid holder{{7}};
  Fence fence;
};

TEST_F(FakeStore, ALateCommitWithASmallerSeqComesInTheNextFrame) {
  const auto late = store.insert_open({});
  const auto early = store.insert({});
  const auto first = read({});
  EXPECT_EQ(seqs_of(first), Seqs{early});
  store.commit(late);
  EXPECT_EQ(seqs_of(read({first.frame, 0})), Seqs{early}) << "a frame keeps its members";
  EXPECT_EQ(seqs_of(read(first.next)), Seqs{late});
}

TEST_F(FakeStore, EveryCommittedRowIsReadOnceWhateverTheOrderOfCommits) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& script) {
    FakeOutboxStore fresh;
    const auto session = fresh.open_reader();
    const auto incarnation = fresh.open_ledger()->load()->incarnation;
    Seqs open;
    Seqs committed;
    Seqs seen;
    model::Position at;
    const auto look = [&](std::size_t rows) {
      const auto page = session->read(at, incarnation, {rows, 1 << 20});
      for (const auto& row : page->rows) seen.push_back(row.seq);
      at = page->next;
      return page->more || !page->rows.empty();
    };
    for (const auto step : script) {
      const auto which = open.empty() ? 0 : (step / 4) % open.size();
      if (step % 4 == 0 || open.empty()) {
        open.push_back(fresh.insert_open({}));
      } else if (step % 4 == 3) {
        look(1 + step / 64);
      } else {
        if (step % 4 == 1) {
          fresh.commit(open[which]);
          committed.push_back(open[which]);
        } else {
          fresh.roll_back(open[which]);
        }
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    while (look(2)) {
    }
    std::ranges::sort(seen);
    std::ranges::sort(committed);
    RC_ASSERT(seen == committed);
  }));
}

TEST_F(FakeStore, ALeaseRunsOutByTheClockThatIsHandedIn) {
  const base::Uuid other{{8}};
  EXPECT_FALSE(store.open_lease()->acquire(other, "other", std::chrono::seconds(10))->mine);
  store.set_now(store.now() + 10'000'000);
  EXPECT_TRUE(store.open_lease()->acquire(other, "other", std::chrono::seconds(10))->mine);
  EXPECT_EQ(ledger->save(fence, {}).error().error_class, ErrorClass::kLostLease);
}

TEST_F(FakeStore, AwayMeansNoAnswerAndNoEffect) {
  store.set_reachable(false);
  EXPECT_EQ(ledger->load().error().error_class, ErrorClass::kUnavailable);
  EXPECT_EQ(ledger->save(fence, {{{{}, 3}, {}}, 1, {}}).error().error_class, ErrorClass::kUnavailable);
  EXPECT_EQ(store.inspect().error().error_class, ErrorClass::kUnavailable);
  store.set_reachable(true);
  EXPECT_EQ(ledger->load()->progress, Progress{});
}

TEST_F(FakeStore, AFaultStrikesAsOftenAsAskedWithOrWithoutEffect) {
  store.fail_next(FakeCall::kSave, {ErrorClass::kTransient, "cut"}, false, 2);
  EXPECT_FALSE(ledger->save(fence, {{}, 5, {}}));
  EXPECT_FALSE(ledger->save(fence, {{}, 5, {}}));
  EXPECT_EQ(people->figures()->published, 0);
  store.fail_next(FakeCall::kSave, {ErrorClass::kUnavailable, "answer lost"}, true);
  EXPECT_FALSE(ledger->save(fence, {{}, 5, {}}));
  EXPECT_EQ(people->figures()->published, 5);
  EXPECT_TRUE(ledger->save(fence, {{}, 5, {}}));
}

TEST_F(FakeStore, LosingThePlaceOrTheLeaseStopsReadsAndWrites) {
  store.insert({});
  store.lose_place();
  EXPECT_EQ(reader->read({}, fence.incarnation, {}).error().error_class, ErrorClass::kLostPlace);
  EXPECT_EQ(ledger->save(fence, {}).error().error_class, ErrorClass::kLostPlace);
  fence.incarnation = ledger->load()->incarnation;
  EXPECT_TRUE(ledger->save(fence, {}));
  store.lose_lease(base::Uuid{{9}}, std::chrono::seconds(10));
  EXPECT_EQ(ledger->save(fence, {}).error().error_class, ErrorClass::kLostLease);
  EXPECT_EQ(seqs_of(read({})).size(), 1U);
}

TEST_F(FakeStore, KeepCountsFromTheSavedPosition) {
  store.insert({});
  const auto page = read({});
  ASSERT_TRUE(ledger->save(fence, {{page.next, {}}, 1, {}}));
  store.set_now(store.now() + 3'599'000'000);
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::hours(1), 10), 0);
  store.set_now(store.now() + 1'000'000);
  EXPECT_EQ(ledger->clean_up(fence, std::chrono::hours(1), 10), 1);
}

TEST(FakeOutboxStoreControls, AnOverrideEndsByTheStoresClock) {
  FakeOutboxStore store;
  const auto people = store.open_operator();
  ASSERT_TRUE(people->set_override({.max_total = 5, .lasts = std::chrono::seconds(10), .reason = "r", .who = "ann"}));
  store.set_now(store.now() + 9'999'000);
  ASSERT_TRUE(people->controls()->limit);
  EXPECT_EQ(people->controls()->limit->remaining, std::chrono::milliseconds(1));
  store.set_now(store.now() + 1'000);
  EXPECT_FALSE(people->controls()->limit);
}

}  // namespace
}  // namespace spillway::ports
