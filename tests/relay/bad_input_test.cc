// What people get wrong on their first day: one clear message, the right exit status, nothing changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/eventually.h"
#include "support/free_port.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

struct Case {
  std::string name;
  // The value of `outbox:`, empty: no configuration. URI/, FOLDER, PORT (taken) and GONE (nobody listens) are filled
  // in.
  std::string outbox;
  std::string more;       // further YAML
  std::string arguments;  // --config is added where the command takes it
  int exit_status;
  std::string says;  // a fragment of standard error
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string name_of(const ::testing::TestParamInfo<Case>& tested) { return tested.param.name; }

class BadInput : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    server_ = new PostgresServer();
    server_->execute("create database bare");
    server_->execute("create database ready");
    TempDir folder("bad-input");
    write(folder, "{store: URI/ready}", "");
    ASSERT_EQ(spillway(folder, "init").exit_status, 0);
    // Somebody relays the table already.
    server_->execute("insert into spillway.lease values ('default', 'spillway.outbox', 1, null, '', now(), 0)",
                     "ready");
  }
  static void TearDownTestSuite() { delete server_; }

  static std::string filled(std::string text, const TempDir& folder) {
    const std::string uri = server_->uri("");
    const auto replace = [&](const std::string& word, const std::string& by) {
      for (auto at = text.find(word); at != text.npos; at = text.find(word)) text.replace(at, word.size(), by);
    };
    replace("URI/", uri);
    replace("FOLDER", folder.path().string());
    replace("PORT", std::to_string(server_->port()));
    replace("GONE", std::to_string(free_port()));
    return text;
  }

  static void write(const TempDir& folder, const std::string& outbox, const std::string& more) {
    std::string text = "outbox: " + outbox + "\n";
    if (more.find("kafka:") == more.npos) text += "kafka: {bootstrap.servers: \"127.0.0.1:1\"}\n";
    if (more.find("http:") == more.npos) text += "http: {listen: none}\n";
    std::ofstream(folder.path() / "c.yaml") << filled(text + more, folder);
  }

  static ProcessOptions command(const TempDir& folder, const std::string& arguments, bool with_config = true) {
    ProcessOptions options{.args = {SPILLWAY_BINARY}, .working_dir = folder.path()};
    std::istringstream words(arguments);
    for (std::string word; words >> word;) options.args.push_back(word);
    if (with_config && arguments.find("--config") == arguments.npos)
      options.args.insert(options.args.end(), {"--config", "c.yaml"});
    return options;
  }
  static Finished spillway(const TempDir& folder, const std::string& arguments, bool with_config = true) {
    return run(command(folder, arguments, with_config), 15s);
  }

  static PostgresServer* server_;
};
PostgresServer* BadInput::server_ = nullptr;

TEST_P(BadInput, IsSaidClearly) {
  const Case& c = GetParam();
  const TempDir folder("bad-input");
  if (!c.outbox.empty()) write(folder, c.outbox, c.more);
  const std::string before =
      server_->value("select count(*) from information_schema.tables where table_schema = 'spillway'", "bare");
  const Finished finished = spillway(folder, c.arguments, !c.outbox.empty());
  EXPECT_EQ(finished.exit_status, c.exit_status) << finished.err;
  const std::string says = filled(c.says, folder);
  const auto at = finished.err.find(says);
  EXPECT_NE(at, std::string::npos) << "expected: " << says << "\ngot: " << finished.err;
  EXPECT_EQ(finished.err.find(says, at + 1), std::string::npos) << "said more than once: " << finished.err;
  EXPECT_EQ((finished.out + finished.err).find("geheim"), std::string::npos) << "a secret was printed";
  EXPECT_EQ(finished.out, "") << "standard output is for data";
  EXPECT_EQ(server_->value("select count(*) from information_schema.tables where table_schema = 'spillway'", "bare"),
            before);
}

constexpr char kReady[] = "{store: URI/ready}";
constexpr char kBare[] = "{store: URI/bare}";
constexpr char kAway[] = "{store: \"postgresql://u:geheim@127.0.0.1:GONE/x\"}";

INSTANTIATE_TEST_SUITE_P(
    Configuration, BadInput,
    ::testing::Values(
        Case{"UnknownKey", "{store: URI/ready, talbe: x}", "", "run", 2, "outbox.talbe is not a key; did you mean"},
        Case{"NoUnit", "{store: URI/ready, cleanup: {keep: 24}}", "", "run", 2, "outbox.cleanup.keep has no unit: 24"},
        Case{"WrongUnit", kReady, "limits: {bytes_in_flight: 16MB}\n", "run", 2, "c.yaml:4:27: limits.bytes_in_flight"},
        Case{"DuplicateKey", kReady, "outbox: {store: x}\n", "run", 2, "c.yaml:4:1: outbox is already given at"},
        Case{"YamlTrap", kReady, "route: {cloudevents: yes}\n", "run", 2, "c.yaml:4:22: route.cloudevents is neither"},
        Case{"Octal", kReady, "limits: {ahead: 010}\n", "run", 2, "write 10, without the leading zero"},
        Case{"MissingFile", kReady, "", "run --config none.yaml", 2, "none.yaml: cannot be read (no such file)"},
        Case{"FolderAsFile", kReady, "", "run --config /tmp", 2, "/tmp: cannot be read (it is a directory)"},
        Case{"BadUrl", "{store: \"mysql://u:geheim@h/x\"}", "", "run", 2, "outbox.store is not the URL of a store"},
        Case{"BadPort", "{store: \"postgresql://u:geheim@h:99999/x\"}", "", "init", 2, "no valid host and port"},
        Case{"SpaceInAPassword", "{store: \"postgresql://u:a geheim@h/x\"}", "", "status", 2, "holds white space"},
        Case{"BadUrlParameter", "{store: \"postgresql://u:geheim@h/x?foo=1\"}", "", "run", 2, "\"foo\""},
        Case{"UnknownPreset", "{store: URI/ready, preset: debesium}", "", "run", 2, "did you mean debezium?"},
        Case{"UnknownKafkaProperty", kReady, "kafka: {bootstrap.servers: \"h:1\", comression.type: lz4}\n",
             "config check", 2, "did you mean compression.type?"},
        Case{"BadKafkaValue", kReady, "kafka: {bootstrap.servers: \"h:1\", linger.ms: soon}\n", "run", 2,
             "c.yaml:3:46: kafka.linger.ms is refused"},
        Case{"UnsafeKafkaValue", kReady, "kafka: {bootstrap.servers: \"h:1\", acks: 1}\n", "run", 2,
             "kafka.acks may not be set so"},
        Case{"PortInUse", kReady, "http: {listen: \"127.0.0.1:PORT\"}\n", "run", 2, "is in use by another process"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Stores, BadInput,
    ::testing::Values(
        Case{"NoTableRun", kBare, "", "run", 2, "does not exist: run `spillway init`"},
        Case{"NoTableRunWhenQuiet", kBare, "log: {level: error}\n", "run", 2, "does not exist: run `spillway init`"},
        Case{"NoTableStatus", kBare, "", "status", 2, "run `spillway init`"},
        Case{"NoTableList", kBare, "", "reconcile list", 2, "run `spillway init`"},
        Case{"NoTablePause", kBare, "", "pause", 2, "run `spillway init`"},
        Case{"OtherName", "{store: URI/ready, name: other}", "", "run", 2, "set outbox.name to default"},
        Case{"NoDatabase", "{store: URI/none}", "", "run", 2, "database \"none\" does not exist"},
        Case{"AwayInit", kAway, "", "init", 1, "Connection refused"},
        Case{"AwayStatus", kAway, "", "status", 1, "Connection refused"},
        Case{"AwayList", kAway, "", "reconcile list --json", 1, "Connection refused"},
        Case{"SqliteNoFileRun", "{store: \"sqlite:FOLDER/x.db\"}", "", "run", 2, "run `spillway init`"},
        Case{"SqliteNoFileStatus", "{store: \"sqlite:FOLDER/x.db\"}", "", "status", 2, "run `spillway init`"},
        Case{"SqliteNoFolder", "{store: \"sqlite:FOLDER/no/x.db\"}", "", "init", 2, "FOLDER/no does not exist"},
        Case{"SqliteFolder", "{store: \"sqlite:FOLDER\"}", "", "init", 2, "is a folder: give the path of a file"},
        Case{"SqliteNoDatabase", "{store: \"sqlite:FOLDER/c.yaml\"}", "", "run", 2, "is not an SQLite database"},
        Case{"UnknownId", kReady, "", "reconcile show 00000000-0000-0000-0000-000000000000", 1, "nothing is recorded"},
        Case{"BadId", kReady, "", "explain x", 2, "an event's id has 36 characters"},
        Case{"NothingOpen", kReady, "", "reconcile discard --all", 1, "nothing was changed"},
        Case{"NoSelection", kReady, "", "reconcile publish", 2, "say which events to publish"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(CommandLine, BadInput,
                         ::testing::Values(Case{"Option", "", "", "status --jsno", 2, "did you mean --json?"},
                                           Case{"Nested", "", "", "reconcile lst", 2, "did you mean list?"},
                                           Case{"Command", "", "", "statsu", 2, "did you mean status?"},
                                           Case{"NoCommand", "", "", "reconcile", 2, "list, show, publish, discard"}),
                         name_of);

class StartUp : public BadInput {};

TEST_F(StartUp, AnInterruptWhileTheDatabaseIsAwayEndsTheRelayAtOnce) {
  const TempDir folder("bad-input");
  write(folder, kAway, "");
  ProcessOptions options = command(folder, "run");
  options.out = folder.path() / "log";
  Process relay(options);
  const auto log = [&] {
    std::ostringstream text;
    text << std::ifstream(folder.path() / "log").rdbuf();
    return text.str();
  };
  ASSERT_TRUE(eventually([&] { return log().find("waits for the database") != std::string::npos; })) << log();
  relay.signal(SIGINT);
  const auto end = relay.wait(2s);
  ASSERT_TRUE(end) << "still running\n" << log();
  EXPECT_EQ(end->exit_status, 0) << log();
  EXPECT_EQ(log().find("geheim"), std::string::npos);
}

TEST_F(StartUp, StatusInJsonIsJsonAndNothingElseWhileTheStoreIsAway) {
  const TempDir folder("bad-input");
  write(folder, kAway, "");
  const Finished finished = spillway(folder, "status --json");
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_TRUE(nlohmann::json::accept(finished.out)) << finished.out;
}

}  // namespace
}  // namespace spillway::testing
