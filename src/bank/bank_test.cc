#include "bank/bank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "http/client.h"

namespace spillway::bank {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kPatience = 20s;

BankOptions quick(int servers = 4, double mean_s = 0.002) {
  BankOptions options;
  options.downstream.servers = servers;
  options.downstream.service_mean_s = mean_s;
  return options;
}

std::future<Outcome> call(Bank& bank, base::Duration timeout, std::uint64_t tag = 0) {
  auto promise = std::make_shared<std::promise<Outcome>>();
  bank.call(tag, timeout, [promise](Outcome outcome) { promise->set_value(outcome); });
  return promise->get_future();
}

void call_and_wait(Bank& bank, int calls) {
  std::vector<std::future<Outcome>> answers;
  for (int i = 0; i < calls; ++i) answers.push_back(call(bank, kPatience));
  for (auto& answer : answers) EXPECT_EQ(answer.get(), Outcome::kDone);
}

std::string page(const std::string& url) { return http::get(url, kPatience).value().body; }

TEST(Bank, DoesItsWorkAndShowsIt) {
  Bank bank(quick());
  call_and_wait(bank, 100);
  EXPECT_EQ(bank.figures().done, 100);
  EXPECT_THAT(page(bank.metrics_urls()[0]), HasSubstr("bank_call_seconds_count 100\n"));
}

TEST(Bank, TellsACallerWhoseTimeIsUpAndDoesTheWorkLater) {
  std::promise<Answer> late;
  auto options = quick();
  options.on_answer = [&](const Answer& answer) { late.set_value(answer); };
  Bank bank(options);
  bank.stop();
  EXPECT_EQ(call(bank, 20ms, 42).get(), Outcome::kTimedOut);
  EXPECT_EQ(bank.figures().late, 0);
  EXPECT_EQ(bank.figures().in_service, 1);
  EXPECT_THAT(page(bank.metrics_urls()[0]), HasSubstr("bank_calls_total 1\n")) << "stopped is not dead";
  bank.resume();
  const Answer answer = late.get_future().get();
  EXPECT_EQ(answer.tag, 42u);
  EXPECT_EQ(answer.outcome, Outcome::kTimedOut);
  EXPECT_EQ(bank.figures().late, 1);
  EXPECT_THAT(page(bank.metrics_urls()[0]), HasSubstr("bank_call_errors_total 1\n"));
}

TEST(Bank, AnswersAfterAChangeOfCapacity) {
  Bank bank(quick(1, 1000));
  auto first = call(bank, kPatience);
  auto second = call(bank, kPatience);
  bank.set_service(1ms);
  bank.set_servers(2);
  EXPECT_EQ(second.get(), Outcome::kDone);
}

TEST(Bank, SharesItsWorkAmongTargets) {
  auto options = quick();
  options.targets = 4;
  Bank bank(options);
  call_and_wait(bank, 200);
  const auto urls = bank.metrics_urls();
  ASSERT_EQ(urls.size(), 4u);
  for (const auto& url : urls) EXPECT_THAT(page(url), HasSubstr("bank_call_seconds_count 50\n"));
}

TEST(Bank, SpoilsOneTargetAndMendsIt) {
  auto options = quick();
  options.targets = 2;
  Bank bank(options);
  call_and_wait(bank, 2);
  const std::string spoilt = bank.metrics_urls()[0];

  bank.set_fault(0, EndpointFault::kRefuses);
  EXPECT_FALSE(http::get(spoilt, kPatience));
  EXPECT_TRUE(http::get(bank.metrics_urls()[1], kPatience));

  bank.set_fault(0, EndpointFault::kFrozen);
  call_and_wait(bank, 2);
  EXPECT_THAT(page(spoilt), HasSubstr("bank_call_seconds_count 1\n"));

  bank.set_fault(0, EndpointFault::kNotANumber);
  EXPECT_THAT(page(spoilt), HasSubstr("bank_call_seconds_count NaN\n"));

  bank.set_fault(0, EndpointFault::kHtml);
  const auto html = http::get(spoilt, kPatience).value();
  EXPECT_EQ(html.status, 200u);
  EXPECT_THAT(html.content_type, HasSubstr("text/html"));
  EXPECT_THAT(html.body, Not(HasSubstr("bank_call")));

  bank.set_fault(0, EndpointFault::kNone);
  EXPECT_THAT(page(spoilt), HasSubstr("bank_call_seconds_count 2\n"));
}

}  // namespace
}  // namespace spillway::bank
