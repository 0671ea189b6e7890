#include "ports/fake/fake_sink.h"

#include <gtest/gtest.h>

#include "ports/contract/sink_contract.h"

namespace spillway::ports {
namespace {

class FakeSinkBench final : public SinkBench {
 public:
  Sink& sink() override { return sink_; }
  void create_topic(const std::string& name, std::int32_t partitions) override { sink_.create_topic(name, partitions); }
  bool reports_missing_topics() const override { return true; }
  void wait() override {}
  std::vector<StoredRecord> read(const std::string& topic, std::size_t) override {
    std::vector<StoredRecord> found;
    for (const StoredRecord& record : sink_.stored()) {
      if (record.topic == topic) found.push_back(record);
    }
    return found;
  }

 private:
  FakeSink sink_{{.records = 100}};
};

INSTANTIATE_TEST_SUITE_P(Fake, SinkContract,
                         testing::Values(MakeSinkBench([] { return std::make_unique<FakeSinkBench>(); })));

class FakeSinkFaults : public testing::Test {
 protected:
  FakeSinkFaults() {
    sink_.create_topic("orders", 2);
    orders_ = sink_.topic_id("orders");
    sink_.drain(events_);
    events_.clear();
  }

  SendOutcome send(std::uint64_t token, std::int32_t partition = 0, std::string_view value = "v") {
    return sink_.send({.topic = orders_, .partition = partition, .value = value}, token);
  }

  std::vector<std::pair<std::uint64_t, DeliveryOutcome>> drained() {
    events_.clear();
    sink_.drain(events_);
    std::vector<std::pair<std::uint64_t, DeliveryOutcome>> found;
    for (const Delivery& delivery : events_.deliveries) found.emplace_back(delivery.token, delivery.outcome);
    return found;
  }

  using Deliveries = std::vector<std::pair<std::uint64_t, DeliveryOutcome>>;
  FakeSink sink_{{.records = 4, .records_per_partition = 3, .record_bytes = 10}};
  SinkEvents events_;
  TopicId orders_ = 0;
};

TEST_F(FakeSinkFaults, AHeldPartitionHoldsBackItselfAlone) {
  sink_.hold("orders", 0);
  send(1, 0);
  send(2, 1);
  EXPECT_EQ(drained(), (Deliveries{{2, DeliveryOutcome::kAcknowledged}}));
  sink_.let_go("orders", 0);
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kAcknowledged}}));
}

TEST_F(FakeSinkFaults, TheLimitsAreInclusive) {
  sink_.set_reachable(false);
  EXPECT_EQ(send(1), SendOutcome::kQueued);
  EXPECT_EQ(send(2), SendOutcome::kQueued);
  EXPECT_EQ(send(3), SendOutcome::kQueued);
  EXPECT_EQ(send(4), SendOutcome::kPartitionFull);
  EXPECT_EQ(send(5, 1), SendOutcome::kQueued);
  EXPECT_EQ(send(6, 1), SendOutcome::kFull);
  EXPECT_EQ(drained(), Deliveries{});
  sink_.set_reachable(true);
  EXPECT_EQ(drained().size(), 4U);
  EXPECT_EQ(send(7, 0, "0123456789"), SendOutcome::kQueued);
  EXPECT_EQ(send(8, 0, "0123456789a"), SendOutcome::kRejected);
  EXPECT_NE(sink_.last_reason().find("11 bytes"), std::string::npos);
}

TEST_F(FakeSinkFaults, RejectsWhatTheJudgeRefusesAndStoresTheRest) {
  sink_.reject_if([](const StoredRecord& record) -> std::optional<std::string> {
    if (record.value == "bad") return "refused";
    return std::nullopt;
  });
  send(1, 0, "good");
  send(2, 0, "bad");
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kAcknowledged}, {2, DeliveryOutcome::kRejected}}));
  EXPECT_EQ(sink_.stored("orders", 0).size(), 1U);
}

TEST_F(FakeSinkFaults, LosesAnswersWithOrWithoutTheRecord) {
  sink_.lose(1, true);
  send(1);
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kUnknown}}));
  EXPECT_EQ(sink_.stored().size(), 1U);
  sink_.lose(1, false);
  send(2);
  send(3);
  EXPECT_EQ(drained(), (Deliveries{{2, DeliveryOutcome::kUnknown}, {3, DeliveryOutcome::kAcknowledged}}));
  EXPECT_EQ(sink_.stored().size(), 2U);
}

TEST_F(FakeSinkFaults, ABrokenProducerTakesNothingAndReturnsEverythingAsUnknown) {
  sink_.hold("orders", 0);
  send(1);
  send(2);
  sink_.break_producer("sequence lost", 1);
  EXPECT_EQ(send(3), SendOutcome::kFull);
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kUnknown}, {2, DeliveryOutcome::kUnknown}}));
  EXPECT_TRUE(events_.rebuilt);
  EXPECT_EQ(events_.rebuilt_reason, "sequence lost");
  EXPECT_EQ(sink_.stored().size(), 1U);
  EXPECT_EQ(send(3), SendOutcome::kQueued);
}

TEST_F(FakeSinkFaults, ADroppedTopicReturnsItsRecordsAndIsReadyAgainWhenRecreated) {
  sink_.hold("orders", 0);
  send(1);
  sink_.drop_topic("orders");
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kTopicMissing}}));
  EXPECT_EQ(sink_.topic(orders_).state, TopicState::kMissing);
  EXPECT_EQ(events_.topics, std::vector<TopicId>{orders_});
  sink_.create_topic("orders", 5);
  drained();
  EXPECT_EQ(sink_.topic(orders_).partitions, 5);
}

TEST_F(FakeSinkFaults, DeliversAsManyAsAllowed) {
  sink_.deliver(1);
  send(1);
  send(2);
  EXPECT_EQ(drained(), (Deliveries{{1, DeliveryOutcome::kAcknowledged}}));
  EXPECT_EQ(drained(), Deliveries{});
  sink_.deliver(-1);
  EXPECT_EQ(drained(), (Deliveries{{2, DeliveryOutcome::kAcknowledged}}));
}

}  // namespace
}  // namespace spillway::ports
