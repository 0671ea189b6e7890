#include "relay/outbound.h"

#include <gtest/gtest.h>

#include "ports/fake/fake_sink.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

class OutboundTest : public testing::Test {
 protected:
  explicit OutboundTest(OutboundLimits limits = {.events_in_flight = 12})
      : outbound_(*Route::make({.topic = "{aggregatetype}"}), limits, sink_) {
    sink_.create_topic("t", 3);
    sink_.topic_id("t");
    settle();
  }

  // A key of each partition.
  std::string key_of(std::int32_t partition) {
    for (int i = 0;; ++i) {
      std::string key = "k" + std::to_string(i);
      if (sink_.partition_for(sink_.topic_id("t"), key) == partition) return key;
    }
  }
  Placement offer(const std::string& key, const std::string& topic = "t",
                  std::optional<std::uint32_t> again = std::nullopt) {
    model::Row row;
    row.seq = ++seq_;
    row.aggregate_type = topic;
    row.aggregate_id = key;
    return outbound_.offer({&row, 0, static_cast<Ordinal>(row.seq), again}, now_);
  }
  int sent_until_it_waits(const std::string& key) {
    int sent = 0;
    while (offer(key) == Placement::kSent) ++sent;
    return sent;
  }
  // What the sink has to say.
  void settle() {
    ports::SinkEvents events;
    sink_.drain(events);
    for (ports::TopicId topic : events.topics) outbound_.topic_changed(topic, now_);
    for (const auto& delivery : events.deliveries) last_ = outbound_.answered(delivery, now_).kind;
  }

  ports::FakeSink sink_;
  Outbound outbound_;
  base::Instant now_{100s};
  std::int64_t seq_ = 0;
  std::optional<Answer::Kind> last_;
};

TEST_F(OutboundTest, StuckPartitionsLeaveRoomForTheOthers) {
  EXPECT_EQ(sent_until_it_waits(key_of(0)), 6);
  EXPECT_EQ(sent_until_it_waits(key_of(1)), 3);
  EXPECT_EQ(sent_until_it_waits(key_of(2)), 2);
  EXPECT_EQ(outbound_.in_flight(), 11u);
}

TEST_F(OutboundTest, APartitionThatStalledLetsGoOfTheRowsBehind) {
  sent_until_it_waits(key_of(0));
  EXPECT_EQ(offer(key_of(0)), Placement::kBlocked) << "briefly full holds up";
  now_ += 1s;
  EXPECT_EQ(offer(key_of(0)), Placement::kDeferred);
  EXPECT_EQ(offer(key_of(1)), Placement::kSent);
  EXPECT_FALSE(outbound_.wanted(now_)) << "it takes nothing yet";
  settle();
  EXPECT_EQ(outbound_.wanted(now_)->rows.size(), 1u);
}

TEST_F(OutboundTest, RowsReadAgainGoBackWhenThePartitionStallsAgain) {
  sent_until_it_waits(key_of(0));
  now_ += 1s;
  offer(key_of(0));
  settle();
  const auto wanted = outbound_.wanted(now_);
  ASSERT_TRUE(wanted);
  while (offer(key_of(0), "t", wanted->gate) == Placement::kSent) {
  }
  now_ += 1s;
  EXPECT_EQ(offer(key_of(0), "t", wanted->gate), Placement::kDeferred);
}

TEST_F(OutboundTest, ARowLargerThanAllThatMayBeInFlightStillGoes) {
  model::Row row;
  const std::string payload(32 << 20, 'x');
  row.aggregate_type = "t";
  row.payload = payload;
  EXPECT_EQ(outbound_.offer({&row, 0, 0, {}}, now_), Placement::kSent);
  EXPECT_EQ(offer("a"), Placement::kBlocked);
}

TEST_F(OutboundTest, AnOutageIsNoProofThatATopicIsMissing) {
  sink_.set_reachable(false);
  now_ += 1s;
  offer("a", "new");
  now_ += 1s;
  EXPECT_EQ(offer("a", "new"), Placement::kDeferred);
  now_ += 1h;
  sink_.set_reachable(true);
  settle();
  ASSERT_EQ(sink_.topic(sink_.topic_id("new")).state, ports::TopicState::kMissing);
  EXPECT_FALSE(outbound_.wanted(now_)) << "it is missing since now";
  now_ += 29s;
  EXPECT_FALSE(outbound_.wanted(now_));
  now_ += 1s;
  const auto wanted = outbound_.wanted(now_);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(offer("a", "new", wanted->gate), Placement::kSettle);
  EXPECT_EQ(outbound_.settlement().reason, "topic new does not exist");
  outbound_.wanted_done(wanted->gate);
  EXPECT_EQ(offer("a", "new"), Placement::kDeferred) << "the next row has its own wait";
}

TEST_F(OutboundTest, ARefusedRowIsReadAgainForTheLedgerAlone) {
  sink_.reject_if([](const ports::StoredRecord&) { return std::optional<std::string>("too large"); });
  offer("a");
  settle();
  EXPECT_EQ(last_, Answer::Kind::kWaits);
  const auto wanted = outbound_.wanted(now_);
  ASSERT_TRUE(wanted);
  seq_ = wanted->rows.front().seq - 1;
  EXPECT_EQ(offer("a", "t", wanted->gate), Placement::kSettle);
  EXPECT_EQ(outbound_.settlement().reason, "too large");
  EXPECT_EQ(outbound_.settlement().key, "a");
}

TEST_F(OutboundTest, AnswersOfAnEarlierLifeFreeTheirRoomAndNoMore) {
  offer("a");
  outbound_.forget();
  settle();
  EXPECT_EQ(last_, Answer::Kind::kStale);
  EXPECT_EQ(outbound_.in_flight(), 0u);
}

}  // namespace
}  // namespace spillway::relay
