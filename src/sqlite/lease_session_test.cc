#include "sqlite/lease_session.h"

#include <gtest/gtest.h>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;
using std::chrono::milliseconds;

TEST_F(OutboxFile, ASecondHolderWaitsAndIsToldWhoHasIt) {
  const auto other = store.open_lease()->acquire(base::random_uuid(), "other", milliseconds(1000));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(other->mine);
  EXPECT_EQ(other->holder_name, "test");
  EXPECT_EQ(other->lease.holder, holder);
  EXPECT_GT(other->expires_in, milliseconds(50'000));
}

TEST_F(OutboxFile, TheEpochRisesWithEveryChangeOfHolderAndOnlyThen) {
  EXPECT_EQ(lease->acquire(holder, "test", milliseconds(1000))->lease.epoch, fence.epoch);
  ASSERT_TRUE(lease->release({holder, fence.epoch}));
  const auto again = lease->acquire(holder, "test", milliseconds(0));
  EXPECT_EQ(again->lease.epoch, fence.epoch + 1);
  const auto taken = store.open_lease()->acquire(base::random_uuid(), "other", milliseconds(1000));
  EXPECT_TRUE(taken->mine) << "the lease of 0 ms has run out";
  EXPECT_EQ(taken->lease.epoch, fence.epoch + 2);
  EXPECT_EQ(lease->renew({holder, fence.epoch + 1}, milliseconds(1000)).error().error_class, ErrorClass::kLostLease);
}

TEST_F(OutboxFile, ReleasingWhatIsNotOursDoesNothing) {
  ASSERT_TRUE(lease->release({base::random_uuid(), fence.epoch}));
  ASSERT_TRUE(lease->release({holder, fence.epoch - 1}));
  EXPECT_TRUE(lease->renew({holder, fence.epoch}, milliseconds(1000)));
}

TEST_F(OutboxFile, StandingByTakesNoWriteLock) {
  OutboxStore impatient({.path = path, .time_limit = milliseconds(20)});
  Connection writer(path, kPatience);
  const Transaction busy(writer, Transaction::Kind::kWrite);
  EXPECT_TRUE(impatient.open_lease()->acquire(base::random_uuid(), "other", milliseconds(1000)));
  EXPECT_EQ(impatient.open_lease()->renew({holder, fence.epoch}, milliseconds(1000)).error().error_class,
            ErrorClass::kTransient)
      << "says nothing about whether the lease is still ours";
}

TEST_F(OutboxFile, LeasesAreKeptPerName) {
  OutboxStore other({.path = path, .name = "other"});
  EXPECT_TRUE(other.open_lease()->acquire(base::random_uuid(), "other", milliseconds(1000))->mine);
}

}  // namespace
}  // namespace spillway::sqlite
