#include "app/outlook.h"

#include <gtest/gtest.h>

namespace spillway::app {
namespace {

using telemetry::PublishFailure;

TEST(FailureReason, PutsLibrdkafkasNamesIntoAFewLabels) {
  EXPECT_EQ(failure_reason("MSG_SIZE_TOO_LARGE"), PublishFailure::kTooLarge);
  EXPECT_EQ(failure_reason("TOPIC_AUTHORIZATION_FAILED"), PublishFailure::kAuth);
  EXPECT_EQ(failure_reason("_AUTHENTICATION"), PublishFailure::kAuth);
  EXPECT_EQ(failure_reason("_MSG_TIMED_OUT"), PublishFailure::kTimeout);
  EXPECT_EQ(failure_reason("REQUEST_TIMED_OUT"), PublishFailure::kTimeout);
  EXPECT_EQ(failure_reason("_FATAL"), PublishFailure::kFatal);
  EXPECT_EQ(failure_reason("_FENCED"), PublishFailure::kFatal);
  EXPECT_EQ(failure_reason("INVALID_RECORD"), PublishFailure::kRejected);
  EXPECT_EQ(failure_reason("_TRANSPORT"), PublishFailure::kRetriable);
  EXPECT_EQ(failure_reason("something new"), PublishFailure::kRetriable);
}

}  // namespace
}  // namespace spillway::app
