#include "kafka/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::kafka {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Properties with(Properties more) {
  more.emplace_back("bootstrap.servers", "127.0.0.1:9092");
  return more;
}

TEST(KafkaProperties, NothingButServersIsEnough) { EXPECT_THAT(property_faults(with({})), IsEmpty()); }

TEST(KafkaProperties, ServersAreNeeded) {
  EXPECT_THAT(property_faults({}), ElementsAre(HasSubstr("kafka.bootstrap.servers")));
}

TEST(KafkaProperties, TheUsersOwnPassThrough) {
  EXPECT_THAT(property_faults(with({{"linger.ms", "20"},
                                    {"compression.type", "lz4"},
                                    {"request.required.acks", "-1"},
                                    {"delivery.timeout.ms", "2000"},
                                    {"security.protocol", "sasl_plaintext"},
                                    {"sasl.mechanism", "PLAIN"},
                                    {"sasl.username", "app"},
                                    {"sasl.password", "hidden"}})),
              IsEmpty());
}

TEST(KafkaProperties, AnUnknownNameGetsTheNearestKnownOne) {
  EXPECT_THAT(property_faults(with({{"compresion.type", "lz4"}})),
              ElementsAre(AllOf(HasSubstr("kafka.compresion.type"), HasSubstr("did you mean compression.type?"))));
}

TEST(KafkaProperties, NearestNamesComeFromLibrdkafkasOwnList) {
  EXPECT_THAT(property_faults(with({{"socket.keepalive.enabled", "true"}})),
              ElementsAre(HasSubstr("did you mean socket.keepalive.enable?")));
  EXPECT_THAT(property_faults(with({{"request.timeout", "1"}})),
              ElementsAre(HasSubstr("did you mean request.timeout.ms?")));
}

TEST(KafkaProperties, ANameLikeNoOtherGetsNone) {
  EXPECT_THAT(property_faults(with({{"zzzzzzzzzzzzzzzz", "1"}})), ElementsAre(Not(HasSubstr("did you mean"))));
}

TEST(KafkaProperties, ABadValueIsNamedWithLibrdkafkasText) {
  EXPECT_THAT(property_faults(with({{"linger.ms", "soon"}})),
              ElementsAre(AllOf(HasSubstr("kafka.linger.ms"), HasSubstr("linger.ms"))));
}

TEST(KafkaProperties, AllFaultsAreListedAtOnce) {
  EXPECT_EQ(property_faults(with({{"lingr.ms", "5"}, {"acks", "1"}, {"compression.type", "rar"}})).size(), 3U);
}

TEST(KafkaProperties, WhatWouldLoseOrReorderIsRefused) {
  for (const auto& [name, value] : Properties{{"enable.idempotence", "false"},
                                              {"acks", "1"},
                                              {"request.required.acks", "0"},
                                              {"max.in.flight", "6"},
                                              {"delivery.report.only.error", "true"},
                                              {"transactional.id", "t"}}) {
    EXPECT_EQ(property_faults(with({{name, value}})).size(), 1U) << name;
  }
}

TEST(KafkaProperties, SettingsThatClashAreFoundWithoutABroker) {
  EXPECT_THAT(property_faults(with({{"message.timeout.ms", "10"}, {"linger.ms", "20"}})),
              ElementsAre(HasSubstr("linger.ms")));
}

TEST(KafkaProperties, SecretsAreNeverRepeated) {
  for (const std::string& fault :
       property_faults(with({{"ssl.key.pem", "very-secret"}, {"ssl.ca.pem", "very-secret"}}))) {
    EXPECT_THAT(fault, Not(HasSubstr("very-secret")));
  }
  EXPECT_FALSE(check_properties(with({{"security.protocol", "ssl"}, {"ssl.ca.pem", "very-secret"}})).has_value());
}

TEST(KafkaProperties, TheUsersValueWinsUnderEitherName) {
  EXPECT_EQ(effective({}, "acks"), "all");
  EXPECT_EQ(effective({{"request.required.acks", "1"}}, "acks"), "1");
  EXPECT_EQ(effective({{"compression.type", "zstd"}}, "compression.codec"), "zstd");
  EXPECT_EQ(effective({{"linger.ms", "3"}, {"linger.ms", "4"}}, "linger.ms"), "4");
}

}  // namespace
}  // namespace spillway::kafka
