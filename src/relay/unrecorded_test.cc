#include "relay/unrecorded.h"

#include <gmock/gmock.h>

namespace spillway::relay {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> seqs(const std::vector<model::Settlement>& settlements) {
  std::vector<std::int64_t> seqs;
  for (const model::Settlement& settlement : settlements) seqs.push_back(settlement.seq);
  return seqs;
}

Unrecorded three() {
  Unrecorded unrecorded;
  for (std::int64_t seq = 1; seq <= 3; ++seq) {
    model::Settlement settlement;
    settlement.seq = seq;
    unrecorded.add(settlement, static_cast<Ordinal>(10 * seq));
  }
  return unrecorded;
}

TEST(Unrecorded, GivesThemInTheirOrderAndBackOnceTheyAreRecorded) {
  Unrecorded unrecorded = three();
  EXPECT_THAT(seqs(unrecorded.to_record(2)), ElementsAre(1, 2));
  const auto recorded = unrecorded.recorded();
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_EQ(recorded[1].settlement.seq, 2);
  EXPECT_EQ(recorded[1].ordinal, 20u);
  EXPECT_EQ(unrecorded.size(), 1u);
  EXPECT_THAT(seqs(unrecorded.to_record(2)), ElementsAre(3));
}

TEST(Unrecorded, LosesNoneThatFailed) {
  Unrecorded unrecorded = three();
  unrecorded.to_record(3);
  EXPECT_THAT(seqs(unrecorded.to_record(1)), ElementsAre(1));
  EXPECT_EQ(unrecorded.recorded().size(), 1u) << "of the last question alone";
}

TEST(Unrecorded, CountsWhatIsOnRecordOfAllThatWereAdded) {
  Unrecorded unrecorded = three();
  EXPECT_EQ(unrecorded.added(), 3);
  unrecorded.to_record(2);
  EXPECT_EQ(unrecorded.recorded_so_far(), 0);
  unrecorded.recorded();
  EXPECT_EQ(unrecorded.recorded_so_far(), 2);
  EXPECT_EQ(unrecorded.added(), 3);
}

}  // namespace
}  // namespace spillway::relay
