#include "support/kafka_broker.h"

#include <gtest/gtest.h>

#include "support/produce_for_test.h"
#include "support/tcp_proxy.h"
#include "support/topic_reader.h"

namespace spillway::testing {
namespace {

TEST(KafkaBroker, CreatesAndDeletesTopics) {
  KafkaBroker broker({.auto_create_topics = false});
  broker.create_topic("orders", 3, {{"retention.ms", "60000"}});
  EXPECT_THROW(broker.create_topic("orders"), std::runtime_error);
  const auto producer = make_producer(broker.bootstrap());
  EXPECT_TRUE(produce(producer.get(), "orders", "k", "v"));
  EXPECT_EQ(TopicReader(broker.bootstrap()).read_all("orders").size(), 1U);
  broker.delete_topic("orders");
  EXPECT_TRUE(TopicReader(broker.bootstrap()).read_all("orders").empty());
  EXPECT_THROW(broker.create_topic("orders", 1, {{"no.such.setting", "1"}}), std::runtime_error);
}

TEST(KafkaBroker, FreezesAndThaws) {
  KafkaBroker broker;
  const auto producer = make_producer(broker.bootstrap());
  ASSERT_TRUE(produce(producer.get(), "orders", "k", "before"));
  broker.freeze();
  EXPECT_FALSE(produce(producer.get(), "orders", "k", "during", 300));
  broker.thaw();
  EXPECT_TRUE(produce(producer.get(), "orders", "k", "after"));
  EXPECT_EQ(TopicReader(broker.bootstrap()).read_all("orders").size(), 3U);
}

TEST(KafkaBroker, KeepsItsRecordsOverKill9AndStop) {
  KafkaBroker broker;
  const auto producer = make_producer(broker.bootstrap());
  ASSERT_TRUE(produce(producer.get(), "orders", "k", "before"));
  broker.kill9();
  EXPECT_FALSE(produce(producer.get(), "orders", "k", "during", 300));
  broker.start();
  EXPECT_TRUE(produce(producer.get(), "orders", "k", "after"));
  broker.stop();
  broker.start();
  EXPECT_EQ(TopicReader(broker.bootstrap()).read_all("orders").size(), 3U);
}

TEST(KafkaBroker, SendsClientsOfAProxyBackToTheProxy) {
  TcpProxy proxy;
  KafkaBroker broker({.advertised_by_proxy = proxy.port()});
  proxy.set_target(broker.proxied_port());
  const auto producer = make_producer("127.0.0.1:" + std::to_string(proxy.port()));
  ASSERT_TRUE(produce(producer.get(), "orders", "k", "before"));
  proxy.set_blackhole(true);
  EXPECT_FALSE(produce(producer.get(), "orders", "k", "during", 300));
  proxy.set_blackhole(false);
  EXPECT_TRUE(produce(producer.get(), "orders", "k", "after"));
}

}  // namespace
}  // namespace spillway::testing
