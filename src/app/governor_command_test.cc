#include "app/governor_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/exit_status.h"
#include "sqlite/scratch_outbox.h"

namespace spillway::app {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class GovernorCommand : public sqlite::OutboxFile {
 protected:
  int limit(GovernorLimitOptions options) {
    out_.str("");
    err_.str("");
    options.who = "ann@box";
    return run_governor_limit(options, store, out_, err_);
  }
  std::string shown(bool json = false) {
    std::ostringstream out;
    EXPECT_EQ(run_governor_show({.json = json}, store, out, err_), kExitDone) << err_.str();
    return out.str();
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(GovernorCommand, SaysWhatChangedAndHowToUndoIt) {
  EXPECT_EQ(limit({.max = 500, .lasts = "30m", .reason = "the bank's month end"}), kExitDone);
  EXPECT_THAT(out_.str(), MatchesRegex("was: no override\nnow: at most 500/s, another (30|29) min( [0-9]+ s)?, by "
                                       "ann@box: the bank's month end\nundo: spillway governor clear\n"));
  EXPECT_EQ(people->controls()->limit->max_total, 500);

  out_.str("");
  EXPECT_EQ(run_governor_clear({.who = "bob@box"}, store, out_, err_), kExitDone);
  EXPECT_THAT(out_.str(), StartsWith("was: at most 500/s"));
  EXPECT_THAT(out_.str(), HasSubstr("now: no override\nundo: spillway governor set --max 500 --for "));
  EXPECT_THAT(out_.str(), HasSubstr("--reason 'the bank'\\''s month end'"));
  EXPECT_FALSE(people->controls()->limit);
}

TEST_F(GovernorCommand, AHoldHasNoNumberAndLastsFifteenMinutes) {
  EXPECT_EQ(limit({.reason = "watching"}), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("now: hold, nothing above what was sent when it was set, another "));
  const auto held = people->controls()->limit;
  EXPECT_FALSE(held->max_total);
  EXPECT_GT(held->remaining, std::chrono::minutes(14));
  EXPECT_LE(held->remaining, std::chrono::minutes(15));
}

TEST_F(GovernorCommand, TheOneBeforeIsWhatUndoSetsAgain) {
  ASSERT_EQ(limit({.reason = "watching"}), kExitDone);
  EXPECT_EQ(limit({.max = 500, .reason = "month end"}), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("undo: spillway governor hold --for "));
  EXPECT_THAT(out_.str(), HasSubstr("--reason 'watching'"));
}

TEST_F(GovernorCommand, RefusesWhatDoesNotEndOrHasNoReason) {
  EXPECT_EQ(limit({.max = 500, .lasts = "25h", .reason = "r"}), kExitWrongUsage);
  EXPECT_EQ(err_.str(), "governor: an override lasts 24h at most: set governor.max for what is to stay\n");
  EXPECT_EQ(limit({.max = 500, .lasts = "30", .reason = "r"}), kExitWrongUsage);
  EXPECT_THAT(err_.str(), HasSubstr("\"30\""));
  EXPECT_THAT(err_.str(), HasSubstr("30m"));
  EXPECT_EQ(limit({.max = 500}), kExitWrongUsage);
  EXPECT_EQ(limit({.max = -5, .reason = "r"}), kExitWrongUsage);
  EXPECT_FALSE(people->controls()->limit);
}

TEST_F(GovernorCommand, ShowsTheOverrideWithoutARelay) {
  EXPECT_THAT(shown(), HasSubstr("override    none"));
  EXPECT_TRUE(Json::parse(shown(true))["governor"]["override"].is_null());
  ASSERT_EQ(limit({.max = 500, .reason = "month end", .json = true}), kExitDone);
  EXPECT_EQ(Json::parse(out_.str())["override"]["max"], 500);
  EXPECT_THAT(shown(), HasSubstr("override    at most 500/s, another "));
  EXPECT_EQ(Json::parse(shown(true))["governor"]["override"]["reason"], "month end");
}

TEST_F(GovernorCommand, FailsWhereTheStoreDoes) {
  sqlite::OutboxStore gone({.path = folder.file("absent.db")});
  EXPECT_EQ(run_governor_show({}, gone, out_, err_), kExitFailed);
  EXPECT_EQ(run_governor_limit({.reason = "r"}, gone, out_, err_), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("governor: "));
}

}  // namespace
}  // namespace spillway::app
