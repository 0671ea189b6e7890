#include "relay/question.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

double half() { return 0.5; }

TEST(Question, IsAskedOneAtATime) {
  Question<int> question;
  EXPECT_TRUE(question.may_ask(kStart));
  question.ask(3, kStart);
  EXPECT_FALSE(question.may_ask(kStart + 1s));
  EXPECT_EQ(question.answered(), 3);
  EXPECT_EQ(question.asked_at(), kStart);
  EXPECT_TRUE(question.may_ask(kStart));
}

TEST(Question, StaysOutWhenItIsForgottenAndItsAnswerCountsForNothing) {
  Question<int> question;
  question.ask(3, kStart);
  question.forget();
  EXPECT_EQ(question.out(), 3);
  EXPECT_FALSE(question.may_ask(kStart));
  EXPECT_EQ(question.answered(), std::nullopt);
  question.ask(4, kStart);
  EXPECT_EQ(question.answered(), 4) << "the next one was not forgotten";
}

TEST(Question, WaitsLongerAfterEachFailureUntilOneSucceeds) {
  Question<int> question;
  question.failed(kStart, half);
  EXPECT_FALSE(question.may_ask(kStart + 24ms));
  EXPECT_TRUE(question.may_ask(kStart + 25ms));
  question.failed(kStart, half);
  EXPECT_EQ(question.not_before(), kStart + 50ms);
  question.succeeded();
  question.failed(kStart, half);
  EXPECT_EQ(question.not_before(), kStart + 25ms);
  question.may_ask_from(kStart);
  EXPECT_TRUE(question.may_ask(kStart));
}

}  // namespace
}  // namespace spillway::relay
