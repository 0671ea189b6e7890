#include "app/reconcile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/exit_status.h"
#include "console/settled_samples.h"

namespace spillway::app {
namespace {

using Json = nlohmann::json;
using model::Verdict;
using testing::HasSubstr;
using testing::Not;

class ReconcileCommand : public console::SettledOutbox {
 protected:
  int act(ReconcileActOptions options, Verdict verdict = Verdict::kDiscard) {
    out_.str("");
    err_.str("");
    options.who = "ann@box";
    return run_reconcile_act(options, verdict, store, out_, err_);
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ReconcileCommand, ListsAsJsonAndAsATable) {
  EXPECT_EQ(run_reconcile_list({.json = true}, store, out_, err_), kExitDone);
  EXPECT_EQ(Json::parse(out_.str()).size(), 3u);
  out_.str("");
  EXPECT_EQ(run_reconcile_list({.selection = {.rule = "old"}, .limit = 1}, store, out_, err_), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr(ids[0]));
  EXPECT_THAT(out_.str(), Not(HasSubstr(ids[1])));
  EXPECT_EQ(err_.str(), "there are more than 1; see --limit\n");
}

TEST_F(ReconcileCommand, AnEmptyListIsStillJson) {
  EXPECT_EQ(run_reconcile_list({.selection = {.rule = "none"}, .json = true}, store, out_, err_), kExitDone);
  EXPECT_EQ(out_.str(), "[]\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ReconcileCommand, ShowsTheReasonAndThePayloadOnlyWhenAsked) {
  EXPECT_EQ(run_reconcile_show({.id = ids[2]}, store, out_, err_), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("reason      too large\n"));
  EXPECT_THAT(out_.str(), HasSubstr("verdict     set_aside (waits for a person)\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("{\"i\":2}")));
  EXPECT_EQ(run_reconcile_show({.id = ids[2], .payload = true}, store, out_, err_), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("{\"i\":2}"));
}

TEST_F(ReconcileCommand, NamedEventsAreResolvedAtOnce) {
  EXPECT_EQ(act({.selection = {.ids = {ids[2]}}}, Verdict::kPublish), kExitDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 event will be sent by the relay"));
  EXPECT_THAT(out_.str(), HasSubstr("undo: "));
  EXPECT_EQ(ledger->released(0, 10)->size(), 1u);
}

TEST_F(ReconcileCommand, OneWrongIdChangesNothing) {
  const std::string stranger = "11111111-2222-4333-8444-555555555555";
  EXPECT_EQ(act({.selection = {.ids = {ids[0], stranger}}}), kExitFailed);
  EXPECT_EQ(err_.str(), "not open, or not there: " + stranger + "; nothing was changed\n");
  EXPECT_EQ(act({.selection = {.ids = {"7"}}}), kExitWrongUsage);
  EXPECT_EQ(open().size(), 3u);
}

TEST_F(ReconcileCommand, ASelectionIsShownFirstAndConfirmedByItsCount) {
  EXPECT_EQ(act({.selection = {.rule = "old"}}), kExitWrongUsage);
  EXPECT_THAT(err_.str(), HasSubstr("2 events, set aside from"));
  EXPECT_THAT(err_.str(), HasSubstr("nothing was changed; add --up-to 2 --confirm 2 to discard exactly these"));
  EXPECT_EQ(act({.selection = {.rule = "old"}, .confirm = 3}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("3 were confirmed and 2 are selected; nothing was changed"));
  EXPECT_EQ(open().size(), 3u);

  EXPECT_EQ(act({.selection = {.rule = "old", .up_to = 2}, .reason = "settled", .confirm = 2}), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("2 events are discarded and will not be sent"));
  EXPECT_EQ(open().size(), 1u);
}

TEST_F(ReconcileCommand, APersonTypesTheCount) {
  std::istringstream wrong("yes\n");
  EXPECT_EQ(act({.selection = {.all = true}, .answers = &wrong}), kExitFailed);
  EXPECT_EQ(open().size(), 3u);
  std::istringstream right("3\n");
  EXPECT_EQ(act({.selection = {.all = true}, .answers = &right}), kExitDone);
  EXPECT_THAT(err_.str(), HasSubstr("type 3 to discard them: "));
  EXPECT_EQ(open().size(), 0u);
}

TEST_F(ReconcileCommand, WithoutASelectionItAsksForOne) {
  EXPECT_EQ(act({.confirm = 3}), kExitWrongUsage);
  EXPECT_EQ(act({.selection = {.type = "no.such"}, .confirm = 0}), kExitFailed);
  EXPECT_EQ(err_.str(), "no open event is selected; nothing was changed\n");
  EXPECT_EQ(act({.selection = {.before = "soon"}, .confirm = 3}), kExitWrongUsage);
  EXPECT_EQ(open().size(), 3u);
}

TEST_F(ReconcileCommand, ReportsAsJson) {
  EXPECT_EQ(act({.selection = {.ids = {ids[0]}}, .json = true}), kExitDone);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["changed"], 1);
  EXPECT_EQ(json["ids"], Json::array({ids[0]}));
}

TEST_F(ReconcileCommand, ExplainKeepsWhatAPersonDecided) {
  ASSERT_EQ(act({.selection = {.ids = {ids[0]}}, .reason = "paid by hand"}), kExitDone);
  out_.str("");
  EXPECT_EQ(run_explain({.id = ids[0]}, store, out_, err_), kExitDone);
  EXPECT_THAT(out_.str(), HasSubstr("verdict     discard (settled)\n"));
  EXPECT_THAT(out_.str(), HasSubstr("reason      paid by hand\n"));
  EXPECT_THAT(out_.str(), HasSubstr("by          ann@box\n"));

  EXPECT_EQ(run_explain({.id = "11111111-2222-4333-8444-555555555555"}, store, out_, err_), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("it was published and cleaned up, or was never in this outbox"));
}

TEST_F(ReconcileCommand, ExplainsAnEventThatNothingIsRecordedFor) {
  sqlite::write_events(path, 2);
  const auto page = read({});
  ASSERT_EQ(page->rows.size(), 2U);
  const std::string first = base::to_string(page->rows[0].id);
  EXPECT_EQ(run_explain({.id = first}, store, out_, err_), kExitDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("state       waits to be sent"));
  EXPECT_THAT(out_.str(), HasSubstr("aggregate   order k0\n"));
  ASSERT_TRUE(ledger->save(fence, {.progress = {.live = page->next, .backlog = {}}, .published = 2, .finished = {}}));
  out_.str("");
  EXPECT_EQ(run_explain({.id = first, .json = true}, store, out_, err_), kExitDone) << err_.str();
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["state"], "published");
  EXPECT_EQ(json["id"], first);
  EXPECT_EQ(json["type"], "order.created");
  EXPECT_EQ(json["payload_bytes"], 7);
  EXPECT_FALSE(json.contains("payload"));
}

}  // namespace
}  // namespace spillway::app
