// Sends numbered records to every partition of a topic as a relay does: what comes back is sent again, in order.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kafka/sink_rig.h"

namespace spillway::kafka {

class Flow {
 public:
  Flow(SinkRig& rig, std::string topic, std::int32_t partitions, std::uint64_t per_partition)
      : rig_(rig), topic_(std::move(topic)), per_partition_(per_partition), lanes_(partitions) {
    EXPECT_EQ(rig_.sink().outstanding(), 0U) << "another flow's reports would be taken for this one's";
    id_ = rig_.sink().topic_id(topic_);
  }

  // One round: takes the reports and sends at most `records` more a partition.
  void turn(std::uint64_t records) {
    rig_.drain();
    for (const ports::Delivery& delivery : rig_.deliveries) settle(delivery);
    rig_.deliveries.clear();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (std::uint64_t sent = 0; sent < records && send_next(lane); ++sent) {
      }
    }
  }

  std::uint64_t acknowledged() const {
    std::uint64_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.acknowledged.size();
    return sum;
  }

  template <typename Done>
  [[nodiscard]] bool until(Done done, std::chrono::seconds limit = std::chrono::seconds(60), std::uint64_t burst = 50) {
    const auto give_up = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      turn(burst);
      rig_.wait(5);
    }
    return true;
  }

  [[nodiscard]] bool finish(std::chrono::seconds limit = std::chrono::seconds(60)) {
    return until([this] { return acknowledged() == per_partition_ * lanes_.size(); }, limit, 1000);
  }

  // Sends nothing more until the fate of every record is known. Only then is furthest() what the broker has taken: an
  // acknowledgement may lie unread in this process.
  [[nodiscard]] bool rest(std::chrono::seconds limit = std::chrono::seconds(60)) {
    return until([this] { return rig_.sink().outstanding() == 0; }, limit, 0);
  }

  // What consumers saw: first occurrences in order; complete from number `from` on. Returns the number of repeats.
  std::uint64_t check(const std::vector<ports::StoredRecord>& stored, std::uint64_t from = 0) const {
    EXPECT_LT(from, per_partition_) << "nothing is left to check";
    std::uint64_t repeats = 0;
    std::vector<std::set<std::uint64_t>> seen(lanes_.size());
    for (const ports::StoredRecord& record : stored) {
      std::set<std::uint64_t>& lane = seen[static_cast<std::size_t>(record.partition)];
      const std::uint64_t number = std::stoull(*record.value);
      if (!lane.empty() && number < *lane.rbegin()) {
        EXPECT_TRUE(lane.contains(number))
            << number << " came first after " << *lane.rbegin() << " in partition " << record.partition;
      }
      repeats += lane.insert(number).second ? 0 : 1;
    }
    for (const auto& lane : seen) {
      for (std::uint64_t number = from; number < per_partition_; ++number) EXPECT_TRUE(lane.contains(number)) << number;
    }
    return repeats;
  }

  // The first number that no partition has acknowledged yet.
  std::uint64_t furthest() const {
    std::uint64_t furthest = 0;
    for (const Lane& lane : lanes_) {
      if (!lane.acknowledged.empty()) furthest = std::max(furthest, *lane.acknowledged.rbegin() + 1);
    }
    return furthest;
  }

 private:
  struct Lane {
    std::uint64_t next = 0;
    std::set<std::uint64_t> acknowledged;
  };

  static constexpr std::uint64_t kLaneShift = 40;

  void settle(const ports::Delivery& delivery) {
    Lane& lane = lanes_[delivery.token >> kLaneShift];
    const std::uint64_t number = delivery.token & ((1ULL << kLaneShift) - 1);
    if (delivery.outcome == ports::DeliveryOutcome::kAcknowledged) {
      lane.acknowledged.insert(number);
    } else {
      EXPECT_NE(delivery.outcome, ports::DeliveryOutcome::kRejected) << delivery.reason;
      lane.next = std::min(lane.next, number);
    }
  }

  bool send_next(std::size_t lane_number) {
    Lane& lane = lanes_[lane_number];
    while (lane.acknowledged.contains(lane.next)) ++lane.next;
    if (lane.next >= per_partition_) return false;
    const std::string value = std::to_string(lane.next);
    const auto partition = static_cast<std::int32_t>(lane_number);
    if (rig_.sink().send({.topic = id_, .partition = partition, .key = "k", .value = value},
                         static_cast<std::uint64_t>(lane_number) << kLaneShift | lane.next) !=
        ports::SendOutcome::kQueued) {
      return false;
    }
    ++lane.next;
    return true;
  }

  SinkRig& rig_;
  std::string topic_;
  std::uint64_t per_partition_;
  std::vector<Lane> lanes_;
  ports::TopicId id_ = 0;
};

}  // namespace spillway::kafka
