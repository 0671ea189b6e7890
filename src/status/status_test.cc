#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/assemble.h"
#include "status/cause.h"
#include "status/governor_view.h"
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

TEST(Status, ABacklogThatGrowsForAMomentIsNoAlarm) {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 60;
  LiveFigures live = running();
  live.rates.arrival = 2000;
  live.net = NetRange{-1000, 0.1};
  EXPECT_THAT(assemble(subject(), said(figures), live).alerts, Not(named("backlog_growing")));
  live.net = NetRange{-1000, 0};
  EXPECT_THAT(assemble(subject(), said(figures), live).alerts, named("backlog_growing"));
  figures.pause.backlog = true;
  EXPECT_THAT(assemble(subject(), said(figures), live).alerts, Not(named("backlog_growing"))) << "it was asked for";
}

// A relay under the adaptive law whose backlog shrinks, downstream being at `p99_ms` of 400.
LiveFigures draining(double p99_ms) {
  LiveFigures live = running();
  live.rates = {.arrival = 1000, .published = 1500};
  live.governor =
      view_of(governor::LawKind::kAdaptive, {.total_rate = 1500,
                                             .backlog_budget = 300,
                                             .state = governor::State::kTracking,
                                             .cause = {governor::CauseKind::kLatency, "bank", p99_ms / 1000, 0.4, ""},
                                             .capacity = 1550,
                                             .live_rate = 1200});
  live.signals = {{.name = "bank", .p99_ms = p99_ms, .error_rate = 0, .age_s = 1, .ceiling_ms = 400, .state = "ok"}};
  return live;
}

ports::Figures old_backlog() {
  ports::Figures figures = working_figures();
  figures.oldest_age_s = 600;
  return figures;
}

TEST(Status, SaysInOneLineWhatBindsTheRate) {
  EXPECT_EQ(assemble(subject(), said(old_backlog()), draining(390)).cause,
            "draining: 1,200 events wait, the oldest for 10 min; 1,500/s published, clear in about 2.4 s; backlog "
            "300/s: bank p99 390 ms near 400 ms");
}

TEST(Status, SaysNothingOfTheGovernorWhereNothingWaits) {
  ports::Figures figures = working_figures();
  figures.waiting_rows = 0;
  EXPECT_THAT(assemble(subject(), said(figures), draining(390)).cause, Not(HasSubstr("bank")));
}

TEST(Status, AlarmsWhenTheBacklogShrinksAndDownstreamSuffers) {
  LiveFigures live = draining(250);
  live.signals[0].climb = 1.32;
  const Status status = assemble(subject(), said(old_backlog()), live);
  ASSERT_THAT(status.alerts, named("drain_hurts"));
  EXPECT_EQ(status.alerts[0].severity, Severity::kWarning);
  EXPECT_THAT(status.alerts[0].summary, HasSubstr("the backlog shrinks while bank suffers: its p99 rose by 32 % in "
                                                  "three minutes to 250 ms (ceiling 400 ms)"));
  live.signals[0].lag_ms = 250;
  live.signals[0].p99_ms.reset();
  EXPECT_THAT(assemble(subject(), said(old_backlog()), live).alerts[0].summary, HasSubstr("its lag rose by 32 %"));
  live.signals[0].p99_ms = 400;
  EXPECT_EQ(assemble(subject(), said(old_backlog()), live).alerts[0].severity, Severity::kPage);
}

TEST(Status, ADrainThatHurtsNobodyIsNoAlarm) {
  const auto alerts_of = [](const LiveFigures& live) { return assemble(subject(), said(old_backlog()), live).alerts; };
  EXPECT_THAT(alerts_of(draining(390)), IsEmpty()) << "near its ceiling, and not climbing";
  LiveFigures low = draining(200);
  low.signals[0].climb = 2;
  EXPECT_THAT(alerts_of(low), IsEmpty()) << "climbing, up to half of the ceiling";
  LiveFigures still = draining(350);
  still.signals[0].climb = 1.5;
  still.rates.published = 1000;
  EXPECT_THAT(alerts_of(still), Not(named("drain_hurts"))) << "the backlog does not shrink";
}

TEST(Status, HoldingLiveIsLoud) {
  LiveFigures live = draining(2000);
  live.live = {.events = 200, .oldest_age_s = 12};
  live.governor = braking();
  const Status status = assemble(subject(), said(old_backlog()), live);
  ASSERT_THAT(status.alerts, named("braking"));
  EXPECT_EQ(status.alerts[0].severity, Severity::kPage);
  EXPECT_THAT(status.alerts[0].summary, HasSubstr("live traffic is held in the outbox at 70/s, the oldest for 12 s"));
  EXPECT_THAT(status.cause, testing::StartsWith("braking: backlog 0/s: downstream has collapsed"));
  EXPECT_THAT(to_text(status, Colour::kNone), HasSubstr("live is held to 70/s"));
}

TEST(Status, ABlindGovernorAndASignalThatNeverSpokeAreNamed) {
  LiveFigures live = draining(0);
  live.governor =
      view_of(governor::LawKind::kAdaptive, {.total_rate = 700,
                                             .backlog_budget = 20,
                                             .state = governor::State::kBlind,
                                             .cause = {governor::CauseKind::kSignalMissing, "bank", 14, 0, "too old"}});
  live.signals = {{.name = "bank", .ceiling_ms = 400, .state = "missing", .trouble = "answers HTML, not metrics"}};
  const Status status = assemble(subject(), said(old_backlog()), live);
  EXPECT_THAT(status.alerts, named("blind"));
  EXPECT_THAT(status.alerts, named("signal_broken"));
  EXPECT_THAT(to_text(status, Colour::kNone), HasSubstr("never spoke; answers HTML, not metrics"));
  live.signals[0].state = "starting";
  EXPECT_THAT(assemble(subject(), said(old_backlog()), live).alerts, Not(named("signal_broken"))) << "too early";
  live.signals[0].state = "missing";
  live.signals[0].age_s = 30;
  EXPECT_THAT(assemble(subject(), said(old_backlog()), live).alerts, Not(named("signal_broken")))
      << "it spoke: the governor says what it misses";
}

TEST(Status, AnOverrideIsNeverQuiet) {
  ports::Figures figures = working_figures();
  figures.limit = {.max_total = 500,
                   .reason = "month end",
                   .who = "ann@box",
                   .since_unix_micros = 1,
                   .remaining = std::chrono::minutes(29)};
  const std::string words = "at most 500/s, another 29 min, by ann@box: month end";
  for (const auto& live : {std::optional<LiveFigures>(), std::optional(running())}) {
    const Status status = assemble(subject(), said(figures), live);
    ASSERT_THAT(status.alerts, named("override_in_force"));
    EXPECT_THAT(status.alerts.back().summary, HasSubstr(words));
    EXPECT_THAT(to_text(status, Colour::kNone), HasSubstr("override    " + words));
  }
}

TEST(Status, AHoldShowsTheNumberThatTheRelayFixed) {
  const ports::Override hold{.reason = "watching", .remaining = std::chrono::minutes(2)};
  EXPECT_EQ(override_words(hold, 812.0), "hold, at most 812/s, another 2 min: watching");
  EXPECT_EQ(override_words(hold, {}), "hold, nothing above what was sent when it was set, another 2 min: watching");
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

TEST(Status, NobodyIsTheOldestWhereNoLiveEventWaits) {
  LiveFigures live = running();
  live.live = {.events = 0};
  EXPECT_THAT(to_text(assemble(subject(), said(working_figures()), live), Colour::kNone),
              HasSubstr("live        0 events\n"));
  live.live = {.events = 2, .oldest_age_s = 3};
  EXPECT_THAT(to_text(assemble(subject(), said(working_figures()), live), Colour::kNone),
              HasSubstr("live        2 events   oldest 3.0 s\n"));
}

TEST(Status, SaysHowManyLiveEventsWaitForTheBacklogOfTheirKey) {
  ports::Figures figures = working_figures();
  EXPECT_THAT(to_text(assemble(subject(), said(figures), running()), Colour::kNone), Not(HasSubstr("of their key")));
  figures.behind_their_key = 4'301;
  EXPECT_THAT(to_text(assemble(subject(), said(figures), running()), Colour::kNone),
              HasSubstr("live        4,301 behind the backlog of their key"));
}

TEST(Status, WhereOnlyEventsBehindTheirKeyWaitItDoesNotSayThatNothingWaits) {
  ports::Figures figures = working_figures();
  figures.waiting_rows = 0;
  figures.behind_their_key = 1'001;
  const Status status = assemble(subject(), said(figures), running());
  EXPECT_THAT(status.cause, HasSubstr("1,001 events behind an earlier one of the same key"));
  EXPECT_EQ(status.eta.kind, Eta::Kind::kUnknown);
}

TEST(Status, ALeaseThatWasFreedHasNoHolderAndNoAge) {
  ports::Figures figures = working_figures();
  figures.lease = lease(std::chrono::hours(-400'000));
  figures.lease->lease.holder = {};
  figures.lease->holder_name = "";
  const std::string text = to_text(assemble(subject(), said(figures), std::nullopt), Colour::kNone);
  EXPECT_THAT(text, HasSubstr("lease       free   epoch 4\n"));
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

TEST(Status, BeforeTheFirstDecisionNobodySaysThatSignalsAreMissing) {
  Subject steered = subject();
  steered.signals_given = true;
  LiveFigures live = running();
  live.governor.reason = kNoSignals;
  const Status status = assemble(steered, said(working_figures()), live);
  EXPECT_EQ(status.governor.reason, kNothingDecided);
  EXPECT_EQ(status.governor.law, "unknown");
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
