// What other people's programs see of a record: kcat, the console consumer of Kafka itself, the Java producer's choice
// of a partition.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "field/field_report.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr std::int64_t kCreatedMs = 1767323045678;  // 2026-01-02 03:04:05.678

class ForeignConsumers : public FieldReport {
 protected:
  // Three records of one key: text with all kinds of headers, an empty payload, a tombstone.
  void write_three() {
    broker().create_topic(name(), 1);
    RelayProcess relay(direct());
    relay.init();
    sql(fmt::format(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, headers, created_at, id) values "
        "('{0}', 'schlüssel 1', 'order.paid', '{{\"total\":  \"12,50 €\"}}', "
        "'{{\"traceparent\": \"{1}\", \"n\": 5, \"o\": {{\"y\": true}}, \"text\": \"grün\"}}', "
        "'2026-01-02 03:04:05.678901+00', '{2}'), "
        "('{0}', 'schlüssel 1', 'order.emptied', '', null, '2026-01-02 03:04:05.678901+00', '{3}'), "
        "('{0}', 'schlüssel 1', 'order.deleted', null, null, '2026-01-02 03:04:05.678901+00', '{4}')",
        name(), kTrace, id(1), id(2), id(3)));
    relay.start();
    ASSERT_TRUE(published(3)) << relay.log();
    relay.stop();
  }

  static std::string id(int number) { return fmt::format("11111111-2222-3333-4444-55555555555{}", number); }

  static std::string libs() {
    const char* given = std::getenv("KAFKA_LIBS_DIR");
    return (given != nullptr ? std::string(given) : KAFKA_LIBS_DIR) + "/*";
  }
};

TEST_F(ForeignConsumers, KcatReadsKeyValueHeadersAndTime) {
  write_three();
  const Finished kcat = run({.args = {"kcat", "-C", "-b", broker().bootstrap(), "-t", name(), "-e", "-q", "-J"}});
  ASSERT_EQ(kcat.exit_status, 0) << kcat.err;
  std::vector<nlohmann::json> found;
  std::istringstream lines(kcat.out);
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(found.size(), 3U) << kcat.out;
  EXPECT_EQ(found[0]["key"], "schlüssel 1");
  EXPECT_EQ(found[0]["payload"], "{\"total\":  \"12,50 €\"}");
  EXPECT_EQ(found[0]["headers"], nlohmann::json::array({"id", id(1), "type", "order.paid", "n", "5", "o",
                                                        "{\"y\":true}", "text", "grün", "traceparent", kTrace}));
  EXPECT_EQ(found[1]["payload"], "");
  EXPECT_EQ(found[1]["headers"], nlohmann::json::array({"id", id(2), "type", "order.emptied"}));
  EXPECT_TRUE(found[2]["payload"].is_null()) << kcat.out;
  for (const auto& record : found) {
    EXPECT_EQ(record["ts"], kCreatedMs);
    EXPECT_EQ(record["tstype"], "create");
  }
}

TEST_F(ForeignConsumers, TheConsoleConsumerReadsKeyValueHeadersAndTime) {
  write_three();
  const Finished java = run({.args = {"java",
                                      "-XX:TieredStopAtLevel=1",
                                      "-Dfile.encoding=UTF-8",
                                      "-cp",
                                      libs(),
                                      "org.apache.kafka.tools.consumer.ConsoleConsumer",
                                      "--bootstrap-server",
                                      broker().bootstrap(),
                                      "--topic",
                                      name(),
                                      "--from-beginning",
                                      "--max-messages",
                                      "3",
                                      "--timeout-ms",
                                      "30000",
                                      "--formatter-property",
                                      "print.key=true",
                                      "--formatter-property",
                                      "print.headers=true",
                                      "--formatter-property",
                                      "print.timestamp=true",
                                      "--formatter-property",
                                      "null.literal=<null>",
                                      "--formatter-property",
                                      "key.separator=|",
                                      "--formatter-property",
                                      "headers.separator=;"}});
  ASSERT_EQ(java.exit_status, 0) << java.err;
  std::vector<std::string> found;
  std::istringstream lines(java.out);
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  const std::string time = fmt::format("CreateTime:{}|", kCreatedMs);
  EXPECT_THAT(found, ElementsAre(time + "id:" + id(1) + ";type:order.paid;n:5;o:{\"y\":true};text:grün;traceparent:" +
                                     kTrace + "|schlüssel 1|{\"total\":  \"12,50 €\"}",
                                 time + "id:" + id(2) + ";type:order.emptied|schlüssel 1|",
                                 time + "id:" + id(3) + ";type:order.deleted|schlüssel 1|<null>"));
}

TEST_F(ForeignConsumers, KeysLieInThePartitionsThatTheJavaProducerWouldTake) {
  broker().create_topic(name(), 7);
  RelayProcess relay(direct());
  relay.init();
  sql(
      fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
                  "select '{}', k, 't', k from (select 'kunde ' || n || repeat('ü', n % 9) as k "
                  "from generate_series(1, 200) n) keys",
                  name()));
  relay.start();
  ASSERT_TRUE(published(200)) << relay.log();
  const TempDir folder("java-keys");
  std::ofstream file(folder.path() / "keys");
  std::vector<int> found;
  for (const TopicRecord& record : records()) {
    for (const char byte : *record.key) file << fmt::format("{:02x}", static_cast<unsigned char>(byte));
    file << '\n';
    found.push_back(record.partition);
  }
  file.close();
  const Finished java = run({.args = {"sh", "-c", R"(exec java -XX:TieredStopAtLevel=1 -cp "$1" "$2" 7 < "$3")", "sh",
                                      libs(), SPILLWAY_PARTITIONS_JAVA, folder.path() / "keys"}});
  ASSERT_EQ(java.exit_status, 0) << java.err;
  std::istringstream out(java.out);
  EXPECT_EQ(found, std::vector<int>(std::istream_iterator<int>(out), {}));
}

}  // namespace
}  // namespace spillway::testing
