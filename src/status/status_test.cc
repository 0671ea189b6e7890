#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/assemble.h"
#include "status/cause.h"
#include "status/status_samples.h"
#include "status/text.h"

namespace spillway::status {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

auto named(const char* name) { return Contains(Field(&Alert::name, name)); }

TEST(Status, OfARelayThatKeepsUpNeedsNobody) {
  const Status status = assemble(subject(), said(working_figures()), running());
  EXPECT_THAT(status.alerts, IsEmpty());
  EXPECT_EQ(status.condition, RelayCondition::kAnswering);
  EXPECT_EQ(status.eta.seconds, 0);
  EXPECT_THAT(status.cause, HasSubstr("1,000/s published"));
}

TEST(Status, SaysThatNobodyOwnsTheOutbox) {
  ports::Figures figures = working_figures();
  figures.lease = lease(std::chrono::seconds(-60));
  figures.progress_age_s = 200;
  figures.oldest_age_s = 190;
  const Status status = assemble(subject(), said(figures), std::nullopt);
  EXPECT_EQ(status.condition, RelayCondition::kNone);
  EXPECT_THAT(status.alerts, named("no_owner"));
  EXPECT_EQ(status.cause, "no relay runs: 1,200 events wait, the oldest for 3 min 10 s; last progress 3 min 20 s ago");
  EXPECT_EQ(status.eta.kind, Eta::Kind::kUnknown);
}

TEST(Status, SaysThatALeaseHolderDoesNothing) {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 30;
  figures.progress_age_s = 9;
  const Status status = assemble(subject(), said(figures), std::nullopt);
  EXPECT_EQ(status.condition, RelayCondition::kFrozen);
  EXPECT_THAT(status.alerts, named("relay_frozen"));
  EXPECT_THAT(status.cause, HasSubstr("box1:4711 holds the lease and does nothing"));
  EXPECT_THAT(status.cause, HasSubstr("last progress 9.0 s ago"));
}

TEST(Status, DoesNotCallAnIdleHolderFrozen) {
  ports::Figures figures = working_figures();
  figures.waiting_rows = 0;
  figures.oldest_age_s.reset();
  figures.progress_age_s = 86'400;
  EXPECT_EQ(assemble(subject(), said(figures), std::nullopt).condition, RelayCondition::kSilent);
  EXPECT_THAT(assemble(subject(), said(figures), running()).alerts, IsEmpty());
}

TEST(Status, SaysThatALoopDoesNotTurnWhateverElseItShows) {
  LiveFigures live = running();
  live.turn_age_s = kFrozenAfterS;
  const Status status = assemble(subject(), said(working_figures()), live);
  EXPECT_EQ(status.condition, RelayCondition::kFrozen);
  EXPECT_THAT(status.alerts, named("relay_frozen"));
  EXPECT_THAT(status.cause, HasSubstr("its loop did not turn for 8.0 s"));
}

TEST(Status, NamesARelayThatWasAskedAndDidNotAnswer) {
  Subject asked = subject();
  asked.relay_asked = "127.0.0.1:8787";
  asked.relay_no_answer = "timed out";
  const Status status = assemble(asked, said(working_figures()), std::nullopt);
  EXPECT_EQ(status.condition, RelayCondition::kSilent);
  EXPECT_THAT(status.alerts, named("relay_silent"));
}

TEST(Status, OneThatStandsByDoesNotSpeakForTheOwner) {
  LiveFigures standby = running();
  standby.state = relay::RelayState::kStandby;
  ports::Figures figures = working_figures();
  EXPECT_EQ(assemble(subject(), said(figures), standby).condition, RelayCondition::kAnswering);

  figures.oldest_age_s = 30;
  figures.progress_age_s = 30;
  const Status frozen = assemble(subject(), said(figures), standby);
  EXPECT_THAT(frozen.alerts, named("relay_frozen"));
  EXPECT_THAT(frozen.cause, HasSubstr("relay box1:4711 holds the lease and does nothing"));

  figures.lease = lease(std::chrono::seconds(-1));
  EXPECT_THAT(assemble(subject(), said(figures), standby).alerts, named("no_owner"));
}

TEST(Status, CallsAGrowingBacklogByItsName) {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 60;
  LiveFigures live = running();
  live.rates.arrival = 2000;
  figures.oldest_age_s = 14.9;
  EXPECT_THAT(assemble(subject(), said(figures), live).alerts, Not(named("backlog_growing")));
  figures.oldest_age_s = 15;
  const Status status = assemble(subject(), said(figures), live);
  EXPECT_THAT(status.alerts, named("backlog_growing"));
  EXPECT_EQ(status.eta.kind, Eta::Kind::kNever);
  EXPECT_THAT(status.cause, HasSubstr("growing, never at this rate"));
}

TEST(Status, AlertsOnAPartitionOnlyOnceItIsStuckForTenSeconds) {
  LiveFigures live = running();
  live.stuck = {{.topic = "orders", .partition = 3, .seconds = 9.9, .waiting = 7, .reason = ""}};
  EXPECT_THAT(assemble(subject(), said(working_figures()), live).alerts, Not(named("partition_stuck")));
  live.stuck[0].seconds = 10;
  const Status status = assemble(subject(), said(working_figures()), live);
  ASSERT_THAT(status.alerts, named("partition_stuck"));
  EXPECT_THAT(status.alerts[0].summary, HasSubstr("orders[3] takes nothing for 10 s, 7 events behind it"));
}

TEST(Status, AlertsOnProgressThatIsNotSaved) {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 30;
  figures.progress_age_s = 12;
  EXPECT_THAT(assemble(subject(), said(figures), running()).alerts, named("progress_stale"));
}

TEST(Status, APauseIsNeverQuiet) {
  ports::Figures figures = working_figures();
  figures.pause = {.all = true, .reason = "bank is down", .who = "ann@box1"};
  figures.oldest_age_s = 600;
  figures.progress_age_s = 600;
  const Status status = assemble(subject(), said(figures), running());
  EXPECT_THAT(status.alerts, named("paused"));
  EXPECT_THAT(status.alerts, Not(named("progress_stale")));
  EXPECT_EQ(status.cause, "paused by ann@box1 (bank is down): 1,200 events wait, the oldest for 10 min");
  EXPECT_EQ(status.eta.kind, Eta::Kind::kNever);
}

TEST(Status, SetAsideEventsNeedAPerson) {
  ports::Figures figures = working_figures();
  figures.open_settlements = 1;
  figures.oldest_open_age_s = 7200;
  const Status status = assemble(subject(), said(figures), running());
  ASSERT_THAT(status.alerts, named("reconcile_waiting"));
  EXPECT_EQ(status.alerts[0].summary, "1 event waits for a person, the oldest for 2 h; see `spillway reconcile list`");
}

TEST(Status, AStoreThatDoesNotAnswerLeavesTheCountsUnknown) {
  const Status status = assemble(subject(), {.error = "connection refused"}, running());
  EXPECT_FALSE(status.backlog.events);
  EXPECT_EQ(status.eta.kind, Eta::Kind::kUnknown);
  EXPECT_THAT(status.alerts, named("store_unreachable"));
  EXPECT_THAT(to_text(status, Colour::kNone), HasSubstr("backlog     unknown"));
}

TEST(Status, OldFiguresAreSaidToBeOld) {
  EXPECT_THAT(assemble(subject(), {.figures = working_figures(), .age_s = 15}, running()).alerts,
              named("figures_stale"));
}

TEST(Status, WithoutSignalsTheLawIsUnlimitedAndSaysSo) {
  const Status status = assemble(subject(), said(working_figures()), std::nullopt);
  EXPECT_EQ(status.governor.law, "unlimited");
  EXPECT_EQ(status.governor.reason, kNoSignals);
  EXPECT_THAT(to_text(status, Colour::kNone), HasSubstr(kNoSignals));
}

TEST(Status, PagesComeFirst) {
  ports::Figures figures = working_figures();
  figures.open_settlements = 3;
  figures.lease.reset();
  const Status status = assemble(subject(), said(figures), std::nullopt);
  ASSERT_EQ(status.alerts.size(), 2u);
  EXPECT_EQ(status.alerts[0].name, "no_owner");
}

TEST(Status, LiveRowsAreNotCountedTwice) {
  LiveFigures live = running();
  live.live = {.events = 200, .oldest_age_s = 0.1};
  const Status status = assemble(subject(), said(working_figures()), live);
  EXPECT_EQ(status.backlog.events, 1000);
  EXPECT_EQ(status.live.events, 200);
}

TEST(StatusText, HasNoEscapesUnlessForATerminal) {
  ports::Figures figures = working_figures();
  figures.pause = {.all = true, .reason = "\033[2Jgone", .who = "x"};
  const Status status = assemble(subject(), said(figures), running());
  EXPECT_EQ(to_text(status, Colour::kNone).find('\033'), std::string::npos);
  EXPECT_NE(to_text(status, Colour::kTerminal).find("\033["), std::string::npos);
}

}  // namespace
}  // namespace spillway::status
