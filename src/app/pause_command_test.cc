#include "app/pause_command.h"

#include <gtest/gtest.h>

#include <sstream>

#include "app/exit_status.h"
#include "sqlite/scratch_outbox.h"

namespace spillway::app {
namespace {

class PauseCommand : public sqlite::OutboxFile {
 protected:
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(PauseCommand, SaysWhatChangedAndHowToUndoIt) {
  EXPECT_EQ(run_pause({.reason = "bank is down", .who = "ann@box"}, store, out_, err_), kExitDone);
  EXPECT_EQ(out_.str(), "was: running\nnow: everything paused by ann@box: bank is down\nundo: spillway resume\n");
  EXPECT_TRUE(people->controls()->pause.all);

  out_.str("");
  EXPECT_EQ(run_resume({.who = "bob@box"}, store, out_, err_), kExitDone);
  EXPECT_EQ(out_.str(), "was: everything paused by ann@box: bank is down\nnow: running\nundo: spillway pause\n");
  EXPECT_FALSE(people->controls()->pause.all);
}

TEST_F(PauseCommand, SaysThatTheOtherLaneIsStillPaused) {
  ASSERT_EQ(run_pause({.lane = "backlog", .who = "ann"}, store, out_, err_), kExitDone);
  out_.str("");
  EXPECT_EQ(run_resume({.who = "ann"}, store, out_, err_), kExitDone);
  EXPECT_NE(out_.str().find("`spillway resume --lane backlog` ends that as well"), std::string::npos) << out_.str();
}

TEST_F(PauseCommand, RefusesALaneThatIsNone) {
  EXPECT_EQ(run_pause({.lane = "live"}, store, out_, err_), kExitWrongUsage);
  EXPECT_EQ(err_.str(), "--lane \"live\": expected all or backlog\n");
}

TEST_F(PauseCommand, FailsWhereTheStoreDoes) {
  sqlite::OutboxStore gone({.path = folder.file("absent.db")});
  EXPECT_EQ(run_pause({}, gone, out_, err_), kExitFailed);
  EXPECT_TRUE(err_.str().starts_with("pause failed: ")) << err_.str();
}

}  // namespace
}  // namespace spillway::app
