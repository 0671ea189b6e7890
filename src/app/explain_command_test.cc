#include "app/explain_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/exit_status.h"
#include "app/relay_on_http.h"
#include "sqlite/scratch_outbox.h"
#include "status/explanation.h"

namespace spillway::app {
namespace {

using testing::HasSubstr;

class ExplainCommand : public sqlite::OutboxFile {
 protected:
  int run(bool json = false) {
    options_.json = json;
    out_.str("");
    err_.str("");
    return run_explain_decisions(options_, store, out_, err_);
  }
  std::string decisions_of(const std::string& outbox) const {
    governor::DecisionLog log;
    log.observe(
        1'700'000'000'000'000,
        {.total_rate = 1400, .backlog_budget = 0, .cause = {governor::CauseKind::kLiveTakesAll, "", 1400, 1400, ""}});
    return status::to_json(
        status::explain({.outbox = outbox, .store = store.describe()}, governor::LawKind::kAdaptive, log));
  }

  ExplainOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ExplainCommand, ShowsWhatTheRelayDecided) {
  const RelayOnHttp relay("/api/explain", decisions_of("default"));
  options_.inquiry.relay = relay.address();
  EXPECT_EQ(run(), kExitDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("2023-11-14T22:13:20.000000Z"));
  EXPECT_THAT(out_.str(), HasSubstr("backlog 0/s: live traffic uses all of 1,400/s"));
  EXPECT_EQ(run(true), kExitDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["changes"][0]["cause"], "live_takes_all");
}

TEST_F(ExplainCommand, SaysThatNoRelayAnswersAndFails) {
  EXPECT_EQ(run(), kExitFailed);
  EXPECT_EQ(err_.str(),
            "the decisions are known to the running relay alone, and it does not answer: no address is known: "
            "http.listen is not set\n");
  options_.inquiry.relay = "127.0.0.1:1";
  EXPECT_EQ(run(true), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("does not answer at 127.0.0.1:1: "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ExplainCommand, DoesNotMistakeAnotherOutboxForThisOne) {
  const RelayOnHttp relay("/api/explain", decisions_of("other"));
  options_.inquiry.relay = relay.address();
  EXPECT_EQ(run(), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("the relay there carries another outbox: other"));
}

}  // namespace
}  // namespace spillway::app
