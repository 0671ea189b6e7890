#include "kafka/group_query.h"

#include <gtest/gtest.h>

#include "kafka/mock_cluster.h"

namespace spillway::kafka {
namespace {

using namespace std::chrono_literals;

// The mock does not answer for all partitions of a group; tests/kafka asks a real broker.
class GroupQueryOnMock : public ::testing::Test {
 protected:
  GroupQueryOnMock() {
    cluster_.create_topic("orders", 2);
    auto query = GroupQuery::create({{"bootstrap.servers", cluster_.bootstrap()}}, "payments");
    if (!query) throw std::runtime_error(query.error().message);
    query_ = std::move(*query);
  }

  MockCluster cluster_;
  std::unique_ptr<GroupQuery> query_;
};

TEST_F(GroupQueryOnMock, AGroupThatCommittedNothingHasNoPartitions) {
  const auto partitions = query_->ask(5s);
  ASSERT_TRUE(partitions) << partitions.error().message;
  EXPECT_TRUE(partitions->empty());
}

TEST_F(GroupQueryOnMock, BrokersThatAreAwayAreUnavailable) {
  cluster_.set_reachable(false);
  const auto partitions = query_->ask(200ms);
  ASSERT_FALSE(partitions);
  EXPECT_EQ(partitions.error().error_class, base::ErrorClass::kUnavailable);
}

TEST(GroupQuery, RefusesPropertiesThatLibrdkafkaDoesNotKnow) {
  EXPECT_FALSE(GroupQuery::create({{"bootstrap.server", "127.0.0.1:1"}}, "payments"));
}

}  // namespace
}  // namespace spillway::kafka
