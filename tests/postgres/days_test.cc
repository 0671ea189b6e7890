// A table that is partitioned by day: days come ahead, finished ones go as a whole, and no writer is in the way.
#include <algorithm>
#include <atomic>
#include <thread>

#include "postgres/outbox.h"

namespace spillway::testing {
namespace {

using base::ErrorClass;
using std::chrono::hours;
using std::chrono::seconds;
using Seqs = std::vector<std::int64_t>;

postgres::InitOptions by_day() {
  postgres::InitOptions options;
  options.partitioned = true;
  return options;
}

// A partitioned outbox that also has the three days before today, and a relay that holds the lease.
class Calendar {
 public:
  explicit Calendar(const postgres::InitOptions& options = by_day(), const std::string& user = "postgres")
      : outbox(shared_server(), options) {
    add_days("-3");
    for (int day = -3; day <= 20; ++day) days_.push_back(outbox.value("select to_char(" + at(day) + ", 'YYYYMMDD')"));
    auto relay = outbox.options();
    relay.connect.uri = shared_server().uri(outbox.database(), user);
    follower = std::make_unique<Follower>(relay);
    ledger = follower->store().open_ledger();
    const base::Uuid holder = base::random_uuid();
    const auto lease = follower->store().open_lease()->acquire(holder, "test", seconds(300));
    if (!lease) throw std::runtime_error(lease.error().message);
    fence = {holder, lease->lease.epoch, follower->incarnation()};
  }

  // As the relay does it, were it so many days later.
  int add_days(const std::string& later) const {
    int added = 0;
    while (!outbox
                .value("select coalesce(spillway.outbox_add_day(clock_timestamp() + interval '" + later +
                       " days')::text, '')")
                .empty()) {
      ++added;
    }
    return added;
  }

  std::string partition(int day) const { return "outbox_" + days_[static_cast<std::size_t>(day + 3)]; }
  bool has(int day) const {
    return outbox.value("select to_regclass('spillway." + partition(day) + "') is not null") == "t";
  }
  // Of the partitions, by name.
  std::string partitions() const {
    return outbox.value(
        "select string_agg(relname, ' ' order by relname) from pg_inherits join pg_class c on c.oid = inhrelid "
        "where inhparent = 'spillway.outbox'::regclass");
  }

  static std::string insert_sql(int day) {
    return "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, created_at) values "
           "('account', 'a-1', 'opened', '{}', " +
           at(day) + ") returning seq";
  }
  std::int64_t insert(int day) const { return outbox.number(insert_sql(day)); }
  std::string home(std::int64_t seq) const {
    return outbox.value("select relname from spillway.outbox o join pg_class c on c.oid = o.tableoid where seq = " +
                        std::to_string(seq));
  }

  Seqs read_and_save(std::vector<ports::Interval> backlog = {}) {
    Seqs seqs = follower->read({2, 1 << 20});
    const auto saved = ledger->save(fence, {{follower->at(), std::move(backlog)}, 1, {}});
    EXPECT_TRUE(saved) << saved.error().message;
    return seqs;
  }

  // As often as the relay would; the number of rows that went one by one.
  std::int64_t clean_up(seconds keep = seconds(0)) {
    std::int64_t rows = 0;
    for (;;) {
      const auto removed = ledger->clean_up(fence, keep, 1000);
      EXPECT_TRUE(removed) << removed.error().message;
      if (!removed) return rows;
      if (*removed < 1000) return rows + *removed;
    }
  }

  void record(std::int64_t seq) {
    model::Settlement settlement;
    settlement.seq = seq;
    const std::vector<model::Settlement> settlements{settlement};
    EXPECT_TRUE(ledger->record(fence, settlements));
  }

  Outbox outbox;
  std::unique_ptr<Follower> follower;
  std::unique_ptr<ports::OutboxLedger> ledger;
  ports::Fence fence;

 private:
  static std::string at(int day) {
    return "(clock_timestamp() at time zone 'UTC')::date at time zone 'UTC' + interval '12 hours' + interval '1 day' * "
           "(" +
           std::to_string(day) + ")";
  }

  std::vector<std::string> days_;
};

#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << (message)

TEST(Days, TodayAndTheNextSevenAreThereAfterInit) {
  Outbox outbox(shared_server(), by_day());
  EXPECT_EQ(outbox.value("select string_agg(relname, ' ' order by relname) from pg_inherits join pg_class c on c.oid = "
                         "inhrelid where inhparent = 'spillway.outbox'::regclass and relname <> 'outbox_default'"),
            outbox.value("select string_agg('outbox_' || to_char((clock_timestamp() at time zone 'UTC')::date + n, "
                         "'YYYYMMDD'), ' ' order by n) from generate_series(0, 7) n"));
  EXPECT_NE(
      outbox.value("select tableoid::regclass from spillway.outbox where seq = " + std::to_string(outbox.insert())),
      "spillway.outbox_default");
  EXPECT_FALSE(outbox.install(by_day()).change != postgres::Installed::Change::kUnchanged);
  const auto inspected = outbox.store()->inspect();
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_TRUE(inspected->empty());
}

TEST(Days, ThePrintedSqlMakesThemToo) {
  Outbox outbox(shared_server(), {}, false);
  outbox.sql(postgres::init_sql(by_day()));
  EXPECT_EQ(outbox.number("select count(*) from pg_inherits where inhparent = 'spillway.outbox'::regclass"), 9);
}

TEST(Days, TheRelayKeepsThemAhead) {
  Calendar calendar;
  calendar.outbox.sql("drop table spillway." + calendar.partition(5));
  ASSERT_TRUE(calendar.ledger->look_ahead());
  EXPECT_TRUE(calendar.has(5));
  EXPECT_FALSE(calendar.has(8));
  EXPECT_EQ(calendar.add_days("3"), 3);
  EXPECT_TRUE(calendar.has(10));
  EXPECT_FALSE(calendar.has(11));
  EXPECT_EQ(calendar.add_days("3"), 0);
}

TEST(Days, EachIsAsTheTableIsAndItsIdsAreUnique) {
  Calendar calendar;
  EXPECT_EQ(calendar.outbox.number("select count(*) from pg_indexes where tablename = '" + calendar.partition(7) + "'"),
            5);
  const std::string id =
      calendar.outbox.value("select id from spillway.outbox where seq = " + std::to_string(calendar.insert(7)));
  EXPECT_THROW(calendar.outbox.sql("insert into spillway.outbox (id, aggregatetype, aggregateid, type, created_at) "
                                   "select id, 'a', 'k', 't', created_at + interval '1 s' from spillway.outbox"),
               std::runtime_error);
}

TEST(Days, ARowWithoutADayGoesIntoTheDefaultPartitionAndItsDayIsLeftOut) {
  Calendar calendar;
  const std::int64_t seq = calendar.insert(12);
  EXPECT_EQ(calendar.home(seq), "outbox_default");
  calendar.outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, created_at) values ('a', 'k', 't', 'infinity'), "
      "('a', 'k', 't', '1969-01-01'), ('a', 'k', 't', '-infinity')");
  EXPECT_EQ(calendar.add_days("8"), 7);
  EXPECT_FALSE(calendar.has(12));
  EXPECT_TRUE(calendar.has(15));
  EXPECT_EQ(calendar.read_and_save().size(), 4U);
  EXPECT_EQ(calendar.clean_up(), 4);
  EXPECT_EQ(calendar.add_days("8"), 1);
}

TEST(Days, NoneIsAddedWhereThatWouldReadALargeDefaultPartition) {
  Calendar calendar;
  calendar.insert(20);
  try {
    calendar.outbox.value("select spillway.outbox_add_day(clock_timestamp() + interval '5 days', 1000)");
    FAIL() << "8 kB are more than 1000 bytes";
  } catch (const std::runtime_error& error) {
    EXPECT_SAYS(std::string(error.what()), "no partitions by day are added while");
  }
  EXPECT_FALSE(
      calendar.outbox.value("select spillway.outbox_add_day(clock_timestamp() + interval '5 days', null)").empty());
}

TEST(Days, SomebodysOwnPartitionIsLeftAlone) {
  Calendar calendar;
  calendar.outbox.sql(
      "create table spillway.one_month partition of spillway.outbox for values from (clock_timestamp() + interval '14 "
      "days') to (clock_timestamp() + interval '44 days'); "
      "create table spillway.old_times partition of spillway.outbox for values from ('2001-01-01') to ('2001-02-01')");
  EXPECT_EQ(calendar.add_days("10"), 4) << "from the tenth to the thirteenth";
  EXPECT_FALSE(calendar.has(15));
  calendar.outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, created_at) values ('a', 'k', 't', "
      "'2001-01-02')");
  EXPECT_EQ(calendar.read_and_save().size(), 1U);
  EXPECT_EQ(calendar.clean_up(), 1) << "by rows, as in every table";
  EXPECT_SAYS(calendar.partitions(), "old_times");
}

TEST(Days, AFinishedDayGoesAsAWhole) {
  Calendar calendar;
  Seqs seqs;
  for (const int day : {-2, 1, -1, -30, -2}) seqs.push_back(calendar.insert(day));
  EXPECT_EQ(calendar.read_and_save(), seqs);
  EXPECT_EQ(calendar.clean_up(), 1) << "the one row of the DEFAULT partition";
  for (const int day : {-3, -2, -1}) EXPECT_FALSE(calendar.has(day)) << day;
  for (const int day : {0, 1, 7}) EXPECT_TRUE(calendar.has(day)) << day;
  EXPECT_EQ(calendar.outbox.value("select string_agg(seq::text, ' ') from spillway.outbox"), std::to_string(seqs[1]));
  EXPECT_EQ(calendar.outbox.number("select count(*) from pg_class where relname = '" + calendar.partition(-2) + "'"),
            0);
  const std::int64_t late = calendar.insert(-2);
  EXPECT_EQ(calendar.home(late), "outbox_default");
  EXPECT_EQ(calendar.read_and_save(), Seqs{late});
}

TEST(Days, NothingGoesBeforeAPlaceWasSaved) {
  Calendar calendar;
  EXPECT_EQ(calendar.clean_up(), 0);
  EXPECT_TRUE(calendar.has(-3));
}

TEST(Days, ADayWithAnUnfinishedRowStays) {
  Calendar calendar;
  calendar.insert(-2);
  calendar.read_and_save();
  const std::int64_t unread = calendar.insert(-2);
  EXPECT_EQ(calendar.clean_up(), 0);
  EXPECT_TRUE(calendar.has(-2));
  EXPECT_FALSE(calendar.has(-3));
  EXPECT_EQ(calendar.outbox.number("select count(*) from spillway.outbox"), 2);
  EXPECT_EQ(calendar.read_and_save(), Seqs{unread});
  calendar.clean_up();
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, ADayIntoWhichAnOpenTransactionWritesStays) {
  Calendar calendar;
  Session slow(calendar.outbox.uri());
  slow.run("begin");
  const std::int64_t late = std::stoll(slow.run(Calendar::insert_sql(-2)));
  calendar.insert(1);
  calendar.read_and_save();
  EXPECT_EQ(calendar.clean_up(), 0);
  EXPECT_TRUE(calendar.has(-3)) << "the locks are not to be had";
  const auto said = calendar.ledger->look_ahead();
  ASSERT_FALSE(said);
  EXPECT_SAYS(said.error().message, "could not be dropped and stays");
  slow.run("commit");
  calendar.clean_up();
  EXPECT_TRUE(calendar.ledger->look_ahead());
  EXPECT_FALSE(calendar.has(-3));
  EXPECT_TRUE(calendar.has(-2));
  EXPECT_EQ(calendar.read_and_save(), Seqs{late});
  calendar.clean_up();
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, ADayWithARowOfTheBacklogStays) {
  Calendar calendar;
  const std::int64_t seq = calendar.insert(-2);
  EXPECT_EQ(calendar.follower->read(), Seqs{seq});
  ports::Interval left;
  left.at.frame.to = calendar.follower->at().frame.from;
  calendar.read_and_save({left});
  EXPECT_EQ(calendar.clean_up(), 0);
  EXPECT_TRUE(calendar.has(-2));
  calendar.read_and_save();
  calendar.clean_up();
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, ADayWithAnOpenSettlementStays) {
  Calendar calendar;
  const std::int64_t seq = calendar.insert(-2);
  calendar.insert(-1);
  calendar.read_and_save();
  calendar.record(seq);
  calendar.clean_up();
  EXPECT_TRUE(calendar.has(-2));
  EXPECT_FALSE(calendar.has(-1));
  ASSERT_TRUE(calendar.follower->store().open_operator()->resolve({}, model::Verdict::kDiscard, "why", "ann"));
  calendar.clean_up();
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, ADayStaysForAsLongAsItsRowsAreKept) {
  Calendar calendar;
  const std::int64_t seq = calendar.insert(-2);
  calendar.read_and_save();
  calendar.record(seq);
  ASSERT_TRUE(calendar.follower->store().open_operator()->resolve({}, model::Verdict::kDiscard, "why", "ann"));
  calendar.clean_up(hours(1));
  EXPECT_TRUE(calendar.has(-3)) << "published a moment ago";
  calendar.outbox.sql("update spillway.saved_positions set saved_at = saved_at - interval '2 hours'");
  calendar.clean_up(hours(72));
  EXPECT_TRUE(calendar.has(-3));
  calendar.clean_up(hours(1));
  EXPECT_FALSE(calendar.has(-3));
  EXPECT_TRUE(calendar.has(-2)) << "resolved a moment ago";
  calendar.outbox.sql("update spillway.settled set changed_at = changed_at - interval '2 hours'");
  calendar.clean_up(hours(1));
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, WithoutTheLeaseOrAfterACrashNothingIsDropped) {
  Calendar calendar;
  calendar.insert(-2);
  calendar.read_and_save();
  ports::Fence stale = calendar.fence;
  --stale.epoch;
  EXPECT_EQ(calendar.ledger->clean_up(stale, seconds(0), 100).error().error_class, ErrorClass::kLostLease);
  stale = calendar.fence;
  stale.holder = base::random_uuid();
  EXPECT_EQ(calendar.ledger->clean_up(stale, seconds(0), 100).error().error_class, ErrorClass::kLostLease);
  stale = calendar.fence;
  stale.incarnation = "another";
  EXPECT_EQ(calendar.ledger->clean_up(stale, seconds(0), 100).error().error_class, ErrorClass::kLostPlace);
  for (const int day : {-3, -2, -1}) EXPECT_TRUE(calendar.has(day)) << day;
}

// Each statement of a writer ends by itself although what the duty waits for never does.
void write_beside(const Calendar& calendar, int day, const std::string& duty) {
  Session slow(calendar.outbox.uri());
  slow.run("begin");
  slow.run(Calendar::insert_sql(day));
  std::atomic<bool> over = false;
  std::atomic<int> refused = 0;
  std::thread tending([&] {
    Session session(calendar.outbox.uri());
    while (!over) {
      try {
        session.run(duty);
      } catch (const std::runtime_error& error) {
        EXPECT_SAYS(std::string(error.what()), "lock timeout");
        ++refused;
      }
    }
  });
  Session writer(calendar.outbox.uri());
  writer.run("set statement_timeout = '20s'");
  for (int i = 0; i < 20 || refused < 3; ++i) EXPECT_NO_THROW(writer.run(Calendar::insert_sql(day)));
  over = true;
  tending.join();
  slow.run("rollback");
}

TEST(Days, AWriterWaitsNoLongerThanTheLockTimeout) {
  Calendar calendar;
  calendar.insert(1);
  calendar.read_and_save();
  write_beside(calendar, 1, "select spillway.outbox_drop_day('default', 0)");
  EXPECT_TRUE(calendar.has(-3));
  write_beside(calendar, 20, "select spillway.outbox_add_day(clock_timestamp() + interval '5 days')");
  EXPECT_FALSE(calendar.has(8));
}

TEST(Days, EachRowIsReadOnceAcrossThem) {
  Calendar calendar;
  Seqs wrote;
  Seqs seen;
  const auto read = [&] {
    for (const std::int64_t seq : calendar.read_and_save()) seen.push_back(seq);
    calendar.clean_up();
  };
  Session slow(calendar.outbox.uri());
  for (int round = 0; round < 6; ++round) {
    slow.run("begin");
    for (int day = 3; day >= -2; --day) {
      wrote.push_back(calendar.insert(day));
      wrote.push_back(std::stoll(slow.run(Calendar::insert_sql(day + round))));
    }
    read();
    slow.run("commit");
    if (round % 2 == 0) read();
    if (round == 3) calendar.add_days("3");
  }
  read();
  std::ranges::sort(seen);
  EXPECT_EQ(seen, wrote);
  EXPECT_FALSE(calendar.has(-2));
}

TEST(Days, TheRelaysRoleMayDoItAndNoMore) {
  auto options = by_day();
  options.roles = true;
  shared_server().execute("drop role if exists days_relay; create role days_relay login");
  Outbox maker(shared_server(), options);  // makes the roles
  shared_server().execute("grant spillway_relay to days_relay");
  Calendar calendar(options, "days_relay");
  calendar.insert(-2);
  calendar.insert(-30);
  EXPECT_EQ(calendar.read_and_save().size(), 2U);
  EXPECT_EQ(calendar.clean_up(), 1);
  EXPECT_FALSE(calendar.has(-2));
  calendar.outbox.sql("drop table spillway." + calendar.partition(5));
  const auto looked = calendar.ledger->look_ahead();
  EXPECT_TRUE(looked) << looked.error().message;
  EXPECT_TRUE(calendar.has(5));
  Session relay(shared_server().uri(calendar.outbox.database(), "days_relay"));
  EXPECT_THROW(relay.run("drop table spillway." + calendar.partition(5)), std::runtime_error);
  EXPECT_THROW(relay.run("create table spillway.mine ()"), std::runtime_error);
}

TEST(Days, WithoutTheRightItIsSaidAndRowsGoOneByOne) {
  shared_server().execute("drop role if exists days_poor; create role days_poor login");
  auto options = by_day();
  options.roles = true;
  Outbox maker(shared_server(), options);
  shared_server().execute("grant spillway_relay to days_poor");
  Calendar calendar(options, "days_poor");
  calendar.outbox.sql(
      "revoke execute on function spillway.outbox_add_day, spillway.outbox_drop_day from spillway_relay; "
      "drop table spillway." +
      calendar.partition(5));
  const auto looked = calendar.ledger->look_ahead();
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_SAYS(looked.error().message, "grant execute on function");
  EXPECT_EQ(calendar.home(calendar.insert(5)), "outbox_default");
  calendar.insert(-2);
  EXPECT_EQ(calendar.read_and_save().size(), 2U);
  EXPECT_EQ(calendar.clean_up(), 2);
  EXPECT_TRUE(calendar.has(-2));
}

TEST(Days, ATableOfAnOlderSpillwayGetsThemByInit) {
  Calendar calendar;
  calendar.outbox.sql("drop function spillway.outbox_add_day, spillway.outbox_drop_day; drop table spillway." +
                      calendar.partition(5));
  const auto looked = calendar.ledger->look_ahead();
  ASSERT_FALSE(looked);
  EXPECT_SAYS(looked.error().message, "run `spillway init`");
  calendar.insert(-2);
  calendar.read_and_save();
  EXPECT_EQ(calendar.clean_up(), 1);
  EXPECT_EQ(calendar.outbox.install({}).change, postgres::Installed::Change::kUpgraded);
  EXPECT_TRUE(calendar.has(5));
  EXPECT_TRUE(calendar.ledger->look_ahead());
}

TEST(Days, ATableThatIsNotPartitionedStaysSo) {
  Outbox outbox;
  EXPECT_TRUE(outbox.store()->open_ledger()->look_ahead());
  postgres::Connection connection({outbox.uri()});
  const auto installed = postgres::install(connection, by_day());
  ASSERT_FALSE(installed);
  EXPECT_SAYS(installed.error().message, "is not partitioned and stays so");
}

TEST(Days, NamesThatNeedQuotesWork) {
  auto options = by_day();
  options.layout.schema = "my \"own\"";
  options.layout.table = "It's 50% of\\it";
  Outbox outbox(shared_server(), options);
  EXPECT_EQ(outbox.number("select count(*) from pg_inherits"), 9 + 9 * 4) << "tables and indexes";
  EXPECT_TRUE(outbox.store()->open_ledger()->look_ahead());
}

}  // namespace
}  // namespace spillway::testing
