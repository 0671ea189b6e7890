#include "app/status_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/exit_status.h"
#include "app/relay_on_http.h"
#include "sqlite/scratch_outbox.h"
#include "status/assemble.h"
#include "status/json.h"

namespace spillway::app {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class StatusCommand : public sqlite::OutboxFile {
 protected:
  int run() {
    out_.str("");
    err_.str("");
    return run_status(options_, store, out_, err_);
  }

  StatusOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(StatusCommand, ReadsTheStoreWithoutARelay) {
  sqlite::write_events(path, 7);
  EXPECT_EQ(run(), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("backlog     7 events"));
  EXPECT_THAT(out_.str(), HasSubstr("no signals configured"));
  EXPECT_EQ(err_.str(), "");

  options_.json = true;
  EXPECT_EQ(run(), kExitDone);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["backlog"]["events"], 7);
  EXPECT_EQ(json["lease"]["holder"], "test");
  EXPECT_TRUE(json["relay"].is_null());
}

TEST_F(StatusCommand, AddsWhatTheRelaySays) {
  status::LiveFigures live{.process = "box/1", .state = relay::RelayState::kRunning};
  live.rates = {.arrival = 10, .published = 20};
  const RelayOnHttp relay(
      "/api/status", status::to_json(status::assemble({.outbox = "default", .store = store.describe()}, {}, live)));
  options_.inquiry.relay = relay.address();
  options_.json = true;
  options_.check = true;
  EXPECT_EQ(run(), kExitDone) << out_.str();
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["relay"]["state"], "running");
  EXPECT_EQ(json["rates"]["published"], 20);
  EXPECT_EQ(json["lease"]["role"], "owner");
}

TEST_F(StatusCommand, DoesNotMistakeAnotherOutboxForThisOne) {
  const RelayOnHttp relay(
      "/api/status",
      status::to_json(status::assemble({.outbox = "other", .store = store.describe()}, {}, status::LiveFigures{})));
  options_.inquiry.relay = relay.address();
  EXPECT_EQ(run(), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("the relay there carries another outbox: other"));
}

TEST_F(StatusCommand, CheckFailsWhenNobodyOwnsTheOutbox) {
  ASSERT_TRUE(lease->release({holder, fence.epoch}));
  EXPECT_EQ(run(), kExitDone);
  options_.check = true;
  EXPECT_EQ(run(), kExitBadAnswer);
  EXPECT_THAT(out_.str(), HasSubstr("no_owner"));
}

TEST_F(StatusCommand, SaysThatNobodyAnswersAndFails) {
  sqlite::OutboxStore gone({.path = folder.file("absent.db")});
  EXPECT_EQ(run_status(options_, gone, out_, err_), kExitFailed);
  EXPECT_THAT(err_.str(), testing::StartsWith("the store does not answer: "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(StatusCommand, WatchShowsItAgainAndAgain) {
  options_ = {.json = true, .watch = true, .every = std::chrono::milliseconds(1), .rounds = 3};
  EXPECT_EQ(run(), kExitDone);
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(Inquiry, AsksTheAddressThatTheRelayListensOn) {
  config::Config config;
  EXPECT_EQ(inquiry_of(config).relay, "127.0.0.1:8787");
  config.http.listen = config::ListenAddress{"0.0.0.0", 80};
  EXPECT_EQ(inquiry_of(config).relay, "127.0.0.1:80");
  config.http.listen = config::ListenAddress{"::", 80};
  EXPECT_EQ(inquiry_of(config).relay, "[::1]:80");
  config.http.listen.reset();
  EXPECT_EQ(inquiry_of(config).relay, "");
}

}  // namespace
}  // namespace spillway::app
