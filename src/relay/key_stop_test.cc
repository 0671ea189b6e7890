#include "relay/key_stop.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using Keys = std::vector<std::string>;

model::Row row(std::int64_t seq, std::optional<std::string_view> key = "k") {
  model::Row made;
  made.seq = seq;
  made.aggregate_id = key;
  return made;
}

model::Settlement settlement(std::int64_t seq, model::Verdict verdict, std::optional<std::string> key = "k") {
  model::Settlement made;
  made.seq = seq;
  made.key = std::move(key);
  made.verdict = verdict;
  return made;
}

TEST(KeyStop, HoldsWhatFollowsARefusedRowAndNothingElse) {
  KeyStop stop(true, false);
  stop.recording(settlement(5, model::Verdict::kSetAside));
  EXPECT_TRUE(stop.stops(row(6), false));
  EXPECT_FALSE(stop.stops(row(4), false)) << "older rows go on";
  EXPECT_FALSE(stop.stops(row(6, "other"), false));
  EXPECT_FALSE(stop.stops(row(6, std::nullopt), false));
  stop.recording(settlement(8, model::Verdict::kSetAside, std::nullopt));
  EXPECT_FALSE(stop.stops(row(9, ""), false)) << "a row without a key holds nobody";
}

TEST(KeyStop, DoesNothingUnlessAskedTo) {
  KeyStop stop(false, false);
  stop.recording(settlement(5, model::Verdict::kSetAside));
  stop.held({{"k", 5, 5, true}}, kStart, kStart);
  EXPECT_FALSE(stop.stops(row(6), false));
}

TEST(KeyStop, AReleasedRowPassesReleasedOnesAndWaitsBehindOpenOnes) {
  KeyStop stop(true, false);
  stop.held({{"k", 3, 7, false}}, kStart, kStart);
  EXPECT_FALSE(stop.stops(row(5), true));
  EXPECT_TRUE(stop.stops(row(8), true));
  EXPECT_FALSE(stop.stops(row(7), true)) << "it is the open one itself";
}

TEST(KeyStop, ReleasesWhatStoppedOnceNobodyHasToDecideAnyMore) {
  KeyStop stop(true, false);
  stop.held({{"waits-for-a-person", 1, 1, true}, {"stopped", 2, 2, false}, {"on-its-way", 3}}, kStart, kStart);
  EXPECT_EQ(stop.to_release(), Keys{"stopped"});
}

TEST(KeyStop, AKeyThatTheLedgerNoLongerNamesIsFree) {
  KeyStop stop(true, false);
  stop.recording(settlement(5, model::Verdict::kSetAside));
  stop.held({}, kStart, kStart);
  EXPECT_FALSE(stop.stops(row(6), false));
}

TEST(KeyStop, LooksAtOnceWhereNothingIsKnownAndNeverWhereNothingIsHeld) {
  KeyStop off(false, false);
  EXPECT_TRUE(off.known());
  EXPECT_FALSE(off.look_due(kStart + 24h));
  KeyStop stop(true, false);
  EXPECT_FALSE(stop.known());
  EXPECT_TRUE(stop.look_due(kStart));
  stop.held({}, kStart, kStart);
  EXPECT_TRUE(stop.known());
  EXPECT_FALSE(stop.look_due(kStart + 24h));
  stop.doubt();
  EXPECT_TRUE(stop.look_due(kStart));
}

TEST(KeyStop, LooksEverySecondAndLessOftenWhereItTakesLong) {
  KeyStop stop(true, false);
  stop.held({{"k", 5, 5, true}}, kStart, kStart);
  EXPECT_FALSE(stop.look_due(kStart + 999ms));
  EXPECT_TRUE(stop.look_due(kStart + 1s));
  stop.held({{"k", 5, 5, true}}, kStart, kStart + 1s);
  EXPECT_FALSE(stop.look_due(kStart + 20s));
  EXPECT_TRUE(stop.look_due(kStart + 21s));
  stop.look_again(kStart + 2s);
  EXPECT_TRUE(stop.look_due(kStart + 2s));
}

}  // namespace
}  // namespace spillway::relay
