#include "app/plan_outbox.h"

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

class PlanOutbox : public sqlite::OutboxFile {
 protected:
  int run(const PlanWish& wish, bool json = false) {
    out_.str("");
    err_.str("");
    PlanOptions options;
    options.laws = {"adaptive"};
    options.json = json;
    return run_plan_outbox(wish, inquiry_, options, store, out_, err_);
  }
  std::string relay_that_measured(const status::GovernorView& governor) const {
    status::LiveFigures live{.process = "box/1", .state = relay::RelayState::kRunning};
    live.rates.arrival = 90;
    live.governor = governor;
    return status::to_json(status::assemble({.outbox = "default", .store = store.describe()}, {}, live));
  }

  Inquiry inquiry_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(PlanOutbox, AsksTheStoreAndTheRelayForWhatIsNotGiven) {
  sqlite::write_events(path, 5000);
  const RelayOnHttp relay("/api/status", relay_that_measured({.law = "adaptive", .capacity = 200, .live_demand = 100}));
  inquiry_.relay = relay.address();
  EXPECT_EQ(run({}), kExitDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("backlog 5,000 events (from the store), capacity 200/s (measured by the relay), "
                                    "live 100/s (measured by the relay)\n"
                                    "5000 events / (200 - 100)/s: 50 s\n"
                                    "with 30 % less capacity throughout: 2 min 5 s\n"));
  EXPECT_THAT(out_.str(), HasSubstr("simulated with adaptive:"));

  EXPECT_EQ(run({.live = 150}, true), kExitDone);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["clear_seconds"], 100);
  EXPECT_EQ(json["origins"]["live"], "given");
  EXPECT_EQ(json["origins"]["capacity"], "measured by the relay");
}

TEST_F(PlanOutbox, WhatOthersTakeIsNoCapacityOfOurs) {
  sqlite::write_events(path, 1000);
  const RelayOnHttp relay("/api/status",
                          relay_that_measured({.law = "adaptive", .capacity = 300, .live_demand = 100, .others = 100}));
  inquiry_.relay = relay.address();
  EXPECT_EQ(run({}, true), kExitDone) << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["clear_seconds"], 10);
}

TEST_F(PlanOutbox, WithoutALiveLaneTheLiveRateIsWhatArrives) {
  sqlite::write_events(path, 11);
  const RelayOnHttp relay("/api/status", relay_that_measured({.law = "adaptive", .capacity = 100}));
  inquiry_.relay = relay.address();
  EXPECT_EQ(run({}, true), kExitDone) << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["live"], 90);
}

TEST_F(PlanOutbox, NamesTheOptionForWhatNobodyKnows) {
  sqlite::write_events(path, 10);
  EXPECT_EQ(run({.live = 5}), kExitWrongUsage);
  EXPECT_EQ(err_.str(),
            "plan: downstream's capacity is not known: no relay was asked, since http.listen is not set; give "
            "--capacity N\n");
  const RelayOnHttp relay("/api/status", relay_that_measured({}));
  inquiry_.relay = relay.address();
  EXPECT_EQ(run({}), kExitWrongUsage);
  EXPECT_THAT(err_.str(), HasSubstr("the relay has not measured it; give --capacity N"));
  EXPECT_EQ(run({.capacity = 100}), kExitDone) << err_.str();
}

TEST_F(PlanOutbox, WhereNothingWaitsThereIsNothingToPlan) {
  EXPECT_EQ(run({}), kExitDone);
  EXPECT_EQ(out_.str(), "nothing waits: there is nothing to plan\n");
  EXPECT_EQ(run({.capacity = 100, .live = 5}, true), kExitDone) << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["clear_seconds"], 0);
}

TEST_F(PlanOutbox, AStoreThatDoesNotAnswerIsAFailure) {
  sqlite::OutboxStore gone({.path = folder.file("absent.db")});
  EXPECT_EQ(run_plan_outbox({.capacity = 1, .live = 0}, inquiry_, {}, gone, out_, err_), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("give --backlog N"));
}

TEST(PlanCeiling, IsTheTightestOfTheSignals) {
  config::Config config;
  EXPECT_FALSE(tightest_ceiling_s(config));
  config.signals.resize(3);
  config.signals[0].latency_ceiling = std::chrono::milliseconds(500);
  config.signals[2].latency_ceiling = std::chrono::milliseconds(400);
  EXPECT_DOUBLE_EQ(*tightest_ceiling_s(config), 0.4);
}

}  // namespace
}  // namespace spillway::app
