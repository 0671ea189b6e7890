#include "bank/bank_consumer.h"

#include <gtest/gtest.h>

#include "kafka/mock_cluster.h"
#include "support/eventually.h"
#include "support/produce_for_test.h"

namespace spillway::bank {
namespace {

using namespace std::chrono_literals;
using spillway::testing::enqueue;
using spillway::testing::eventually;

constexpr auto kLimit = 30s;

class BankConsumerTest : public ::testing::Test {
 protected:
  BankConsumerTest() {
    cluster_.create_topic("work", 3);
    cluster_.create_topic("work.retry", 3);
  }

  // `count` events of each of ten keys, numbered from `first`.
  void produce(int first, int count) {
    for (int number = first; number < first + count; ++number) {
      for (int key = 0; key < 10; ++key) {
        const std::string name = "k" + std::to_string(key);
        const std::string value = name + " " + std::to_string(number);
        ASSERT_TRUE(
            enqueue(producer_.get(), {.topic = "work", .key = name, .value = value, .headers = {{"id", value}}}));
      }
    }
    ASSERT_EQ(rd_kafka_flush(producer_.get(), 20'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }

  ConsumerOptions options() const {
    return {.feed = {.bootstrap = cluster_.bootstrap(), .topic = "work"}, .timeout = 10s, .retry_pause = 5ms};
  }

  static BankOptions quick() {
    BankOptions options;
    options.downstream.servers = 50;
    options.downstream.service_mean_s = 0.002;
    return options;
  }

  kafka::MockCluster cluster_;
  std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> producer_ =
      spillway::testing::make_producer(cluster_.bootstrap());
};

TEST_F(BankConsumerTest, CallsTheBankOnceForEachRecordInOrder) {
  Bank bank(quick());
  BankConsumer consumer(bank, options());
  produce(1, 100);
  EXPECT_TRUE(eventually([&] { return consumer.figures().done == 1'000; }, kLimit));
  consumer.stop();
  const ConsumerFigures figures = consumer.figures();
  EXPECT_EQ(figures.partitions, 3);
  EXPECT_EQ(figures.unique, 1'000);
  EXPECT_EQ(figures.duplicates, 0);
  EXPECT_EQ(figures.inversions, 0);
  EXPECT_EQ(figures.calls, 1'000);
  EXPECT_EQ(consumer.inbox().missing(std::vector<std::string>{"k3 77", "k3 101"}), 1);
}

TEST_F(BankConsumerTest, CountsWhatCameTwiceAndOutOfOrder) {
  Bank bank(quick());
  BankConsumer consumer(bank, options());
  produce(5, 1);
  produce(5, 1);
  produce(4, 1);
  EXPECT_TRUE(eventually([&] { return consumer.figures().done == 30; }, kLimit));
  EXPECT_EQ(consumer.figures().duplicates, 10);
  EXPECT_EQ(consumer.figures().inversions, 10);
}

TEST_F(BankConsumerTest, HasNoMoreInHandThanItMay) {
  Bank bank(quick());
  bank.stop();
  ConsumerOptions few = options();
  few.in_hand = 7;
  BankConsumer consumer(bank, few);
  produce(1, 5);
  EXPECT_TRUE(eventually([&] { return bank.figures().calls == 7; }, kLimit));
  EXPECT_TRUE(eventually([&] { return consumer.figures().in_hand == 7; }, kLimit));
  bank.resume();
  EXPECT_TRUE(eventually([&] { return consumer.figures().done == 50; }, kLimit));
}

TEST_F(BankConsumerTest, TriesAgainAndThenGivesUp) {
  Bank bank(quick());
  bank.stop();
  ConsumerOptions impatient = options();
  impatient.timeout = 5ms;
  impatient.retries = 2;
  BankConsumer consumer(bank, impatient);
  produce(1, 1);
  EXPECT_TRUE(eventually([&] { return consumer.figures().given_up == 10; }, kLimit));
  EXPECT_EQ(consumer.figures().calls, 30);
  EXPECT_EQ(consumer.figures().done, 0);
  bank.resume();
  EXPECT_TRUE(eventually([&] { return bank.figures().late == 30; }, kLimit));
}

TEST_F(BankConsumerTest, ReadsAgainWhatItPutIntoTheRetryTopic) {
  Bank bank(quick());
  bank.stop();
  ConsumerOptions patient = options();
  patient.feed.retry_topic = "work.retry";
  patient.timeout = 50ms;
  patient.retries = 0;
  patient.retry_topic_pause = 100ms;
  BankConsumer consumer(bank, patient);
  produce(1, 1);
  EXPECT_TRUE(eventually([&] { return consumer.figures().sent_to_retry_topic >= 10; }, kLimit));
  bank.resume();
  EXPECT_TRUE(eventually([&] { return consumer.figures().done == 10; }, kLimit));
  EXPECT_EQ(consumer.figures().given_up, 0);
  EXPECT_EQ(consumer.figures().unique, 10);
  EXPECT_EQ(consumer.figures().duplicates, 0);
}

}  // namespace
}  // namespace spillway::bank
