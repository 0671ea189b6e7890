#include "console/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "console/settled_samples.h"
#include "http/client.h"
#include "status/assemble.h"
#include "status/json.h"

namespace spillway::console {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Endpoints : public SettledOutbox {
 protected:
  void SetUp() override {
    SettledOutbox::SetUp();
    desk_ = std::make_unique<Desk>(loop_, store);
    auto server = http::Server::listen(loop_.context(), {.port = 0, .token = "t0ken"});
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    base_ = "http://" + server_->address();
    add_endpoints(*server_, *desk_,
                  {.status = [] { return status::assemble({}, {.figures = ports::Figures{}}, {}); },
                   .explanation = [] { return status::Explanation{.outbox = "default", .law = "adaptive"}; },
                   .metrics = [](telemetry::Exposition) { return std::string("m 1\n"); },
                   .readiness = [this] { return readiness_; },
                   .turn_age_s = [this] { return turn_age_s_; },
                   .observe = [this](std::string_view body) -> base::Result<std::size_t> {
                     pushed_ = body;
                     if (body == "[7]") return base::fail(base::ErrorClass::kRejected, "observation 1 is no object");
                     return 3;
                   }});
  }
  void start() {
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    if (!thread_.joinable()) return;
    loop_.post([this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }

  http::ClientResponse get(const std::string& target) {
    const auto answer = http::get(base_ + target, 5s);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(http::ClientResponse{});
  }
  http::ClientResponse post(const std::string& target, const std::string& body, const std::string& token = "t0ken") {
    const auto answer =
        http::fetch({.method = "POST",
                     .url = base_ + target,
                     .headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token}},
                     .body = body,
                     .timeout = 5s});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(http::ClientResponse{});
  }

  Readiness readiness_;
  double turn_age_s_ = 0;
  std::string pushed_;
  std::string base_;

 private:
  runtime::Loop loop_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

TEST_F(Endpoints, HealthFollowsTheLoop) {
  turn_age_s_ = 7.9;
  start();
  EXPECT_EQ(get("/healthz").status, 200u);
}

TEST_F(Endpoints, HealthFailsWhenTheLoopIsFrozen) {
  turn_age_s_ = 8;
  start();
  const auto answer = get("/healthz");
  EXPECT_EQ(answer.status, 503u);
  EXPECT_EQ(answer.body, "the relay's loop did not turn for 8.0 s\n");
}

TEST_F(Endpoints, ABrokerThatIsAwayDoesNotFailReadiness) {
  readiness_.notes = {"the broker does not answer"};
  start();
  EXPECT_EQ(get("/readyz").status, 200u);
  EXPECT_EQ(get("/readyz").body, "ready\n");
  EXPECT_EQ(get("/readyz?verbose").body, "ready\nnote: the broker does not answer\n");
}

TEST_F(Endpoints, ReadinessSaysWhatIsMissing) {
  readiness_.missing = {"the store was never reached"};
  start();
  EXPECT_EQ(get("/readyz").status, 503u);
  EXPECT_THAT(get("/readyz").body, HasSubstr("missing: the store was never reached"));
}

TEST_F(Endpoints, ServeStatusMetricsAndThePage) {
  start();
  EXPECT_TRUE(status::from_json(get("/api/status").body));
  EXPECT_EQ(status::explanation_from_json(get("/api/explain").body)->law, "adaptive");
  EXPECT_EQ(get("/metrics").body, "m 1\n");
  EXPECT_THAT(get("/metrics").content_type, StartsWith("text/plain; version=0.0.4"));
  EXPECT_THAT(get("/").content_type, StartsWith("text/html"));
  EXPECT_THAT(get("/style.css").content_type, StartsWith("text/css"));
}

TEST_F(Endpoints, PauseAndResumeAreKept) {
  start();
  EXPECT_EQ(post("/api/pause", R"({"reason": "night", "who": "ann"})").status, 200u);
  EXPECT_TRUE(people->controls()->pause.all);
  EXPECT_EQ(people->controls()->pause.reason, "night");
  EXPECT_EQ(people->controls()->pause.who, "ann");
  EXPECT_EQ(post("/api/resume", "{}").status, 200u);
  EXPECT_FALSE(people->controls()->pause.all);
  EXPECT_EQ(post("/api/pause", R"({"lane": "live"})").status, 400u);
  EXPECT_EQ(post("/api/pause", R"({"lane": 3})").status, 400u);
  EXPECT_EQ(post("/api/pause", "[]").status, 400u);
}

TEST_F(Endpoints, AnOverrideIsSetHeldAndCleared) {
  start();
  const auto set =
      post("/api/governor", R"({"action": "set", "max": 500, "for": "30m", "reason": "month end", "who": "ann"})");
  EXPECT_EQ(set.status, 200u) << set.body;
  EXPECT_EQ(Json::parse(set.body)["override"]["max"], 500);
  EXPECT_EQ(people->controls()->limit->max_total, 500);
  EXPECT_GT(people->controls()->limit->remaining, std::chrono::minutes(29));
  EXPECT_EQ(post("/api/governor", R"({"action": "hold", "reason": "watching"})").status, 200u);
  EXPECT_FALSE(people->controls()->limit->max_total);
  EXPECT_EQ(people->controls()->limit->who, "http");
  EXPECT_EQ(post("/api/governor", R"({"action": "clear"})").body, "{\"override\":null}\n");
  EXPECT_FALSE(people->controls()->limit);
}

TEST_F(Endpoints, AnOverrideThatIsNoneIsRefused) {
  start();
  for (const char* body :
       {"[]", "{}", R"({"action": "set", "reason": "r"})", R"({"action": "hold"})",
        R"({"action": "set", "max": "5", "reason": "r"})", R"({"action": "hold", "for": "25h", "reason": "r"})",
        R"({"action": "hold", "for": "soon", "reason": "r"})"}) {
    EXPECT_EQ(post("/api/governor", body).status, 400u) << body;
  }
  EXPECT_FALSE(people->controls()->limit);
}

TEST_F(Endpoints, ObservationsAreTakenOrRefusedWithTheReason) {
  start();
  const auto taken = post("/api/observations", "[1, 2, 3]");
  EXPECT_EQ(taken.status, 200u);
  EXPECT_EQ(Json::parse(taken.body)["observed"], 3);
  EXPECT_EQ(pushed_, "[1, 2, 3]");
  const auto refused = post("/api/observations", "[7]");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_EQ(Json::parse(refused.body)["error"], "observation 1 is no object");
}

TEST_F(Endpoints, ChangesNeedTheToken) {
  start();
  EXPECT_EQ(post("/api/governor", R"({"action": "hold", "reason": "r"})", "wrong").status, 401u);
  EXPECT_EQ(post("/api/observations", "[]", "wrong").status, 401u);
  EXPECT_EQ(post("/api/pause", "{}", "wrong").status, 401u);
  EXPECT_EQ(post("/api/reconcile/discard", R"({"rule": "old", "confirm": 2})", "").status, 401u);
  EXPECT_FALSE(people->controls()->pause.all);
  EXPECT_EQ(open().size(), 3u);
}

TEST_F(Endpoints, ListAndShowWhatWasSetAside) {
  start();
  EXPECT_EQ(Json::parse(get("/api/reconcile").body).size(), 3u);
  EXPECT_EQ(Json::parse(get("/api/reconcile?rule=old&limit=1").body).size(), 1u);
  EXPECT_EQ(get("/api/reconcile?limit=x").status, 400u);
  EXPECT_EQ(get("/api/reconcile?before=soon").status, 400u);
  const Json event = Json::parse(get("/api/reconcile/show?id=" + ids[2]).body);
  EXPECT_EQ(event["reason"], "too large");
  EXPECT_FALSE(event.contains("payload"));
  EXPECT_EQ(get("/api/reconcile/show?id=x").status, 400u);
  EXPECT_EQ(get("/api/reconcile/show?id=11111111-2222-4333-8444-555555555555").status, 404u);
}

TEST_F(Endpoints, ASelectionMustBeConfirmedByItsCount) {
  start();
  const auto unconfirmed = post("/api/reconcile/discard", R"({"rule": "old"})");
  EXPECT_EQ(unconfirmed.status, 409u);
  EXPECT_EQ(Json::parse(unconfirmed.body)["count"], 2);
  EXPECT_EQ(post("/api/reconcile/discard", R"({"rule": "old", "confirm": 3})").status, 409u);
  EXPECT_EQ(post("/api/reconcile/discard", "{}").status, 400u);
  EXPECT_EQ(post("/api/reconcile/discard", R"({"rule": 5})").status, 400u);
  EXPECT_EQ(open().size(), 3u);

  const auto done = post("/api/reconcile/discard", R"({"rule": "old", "confirm": 2, "reason": "old", "who": "ann"})");
  EXPECT_EQ(done.status, 200u);
  EXPECT_EQ(Json::parse(done.body)["changed"], 2);
  EXPECT_EQ(open().size(), 1u);
}

TEST_F(Endpoints, NamedEventsNeedNoConfirmation) {
  start();
  const std::string body = Json{{"ids", {ids[2]}}, {"reason", "topic is larger now"}}.dump();
  EXPECT_EQ(post("/api/reconcile/publish", body).status, 200u);
  EXPECT_EQ(ledger->released(0, 10)->size(), 1u);
}

}  // namespace
}  // namespace spillway::console
