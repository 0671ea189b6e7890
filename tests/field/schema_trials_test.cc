// Reports in which a change of the schema stopped a running relay.
#include <fmt/format.h>

#include "field/field_report.h"
#include "support/pgbouncer.h"

namespace spillway::testing {
namespace {

TEST_F(FieldReport, BR061_ChangesOfTheTableDoNotStopTheFlow) {
  broker().create_topic(name(), 1);
  const PgBouncer pooler(server());
  RelaySettings settings = direct();
  settings.store = pooler.uri(database());
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay)) << relay.log();
  std::int64_t written = 0;
  const auto flows = [&](const std::string& after) {
    insert("k", written + 1, written + 10);
    written += 10;
    ASSERT_TRUE(published(written, 15s)) << after << "\n" << relay.log();
  };
  flows("the start");
  for (const std::string change : {"alter table spillway.outbox add column extra int not null default 7",
                                   "alter table spillway.outbox drop column extra",
                                   "alter table spillway.outbox alter column type type varchar(200)",
                                   "alter table spillway.outbox alter column type type text",
                                   "alter table spillway.outbox alter column headers type jsonb using headers || '{}'",
                                   "reindex table concurrently spillway.outbox", "vacuum full spillway.outbox"}) {
    sql(change);
    flows(change);
  }
  sql("alter table spillway.outbox rename to elsewhere");
  std::this_thread::sleep_for(1s);
  sql("alter table spillway.elsewhere rename to outbox");
  flows("renaming it and back");
  // Another table of the same name takes over; the old one has nothing left to send.
  sql(fmt::format(
      "begin; lock table spillway.outbox; create table spillway.fresh (like spillway.outbox including all); "
      "alter table spillway.outbox rename to retired; alter table spillway.fresh rename to outbox; "
      "select setval(pg_get_serial_sequence('spillway.outbox', 'seq'), (select max(seq) from spillway.retired)); "
      "commit"));
  flows("another table in its place");
  sql("insert into spillway.outbox overriding system value select * from spillway.retired");
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR063_NumbersBeyond31BitsAreOrdinary) {
  broker().create_topic(name(), 1);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  sql("alter sequence spillway.outbox_seq_seq restart with 2147483600");
  insert("k", 1, 100);
  ASSERT_TRUE(published(100)) << relay.log();
  sql("alter sequence spillway.outbox_seq_seq restart with 9223372036854775000");
  insert("k", 101, 200);
  ASSERT_TRUE(published(200)) << relay.log();
  relay.stop();
  relay.start();
  insert("k", 201, 300);
  ASSERT_TRUE(published(300)) << relay.log();
  EXPECT_EQ(expect_complete().duplicates, 0);
  EXPECT_EQ(
      value("select count(*) from information_schema.columns where table_schema = 'spillway' and data_type in "
            "('integer', 'smallint', 'real', 'double precision') and column_name not in ('limit_max', 'capacity')"),
      "0");
  // How much is left is a figure and an alert.
  EXPECT_NE(relay.command("status --json").out.find("key_space_low"), std::string::npos);
}

}  // namespace
}  // namespace spillway::testing
