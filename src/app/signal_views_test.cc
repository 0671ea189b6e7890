#include "app/signal_views.h"

#include <gtest/gtest.h>

namespace spillway::app {
namespace {

TEST(SignalViews, SpeakInMillisecondsAndKeepWhatIsNotKnownEmpty) {
  const auto views = signal_views({{.name = "bank",
                                    .state = signals::SignalState::kOver,
                                    .p99_s = 0.412,
                                    .error_rate = 0.01,
                                    .age_s = 1.5,
                                    .ceiling_s = 0.4},
                                   {.name = "lag",
                                    .kind = config::SignalKind::kKafkaLag,
                                    .state = signals::SignalState::kMissing,
                                    .lag_s = 3,
                                    .ceiling_s = 2,
                                    .trouble = "group payments does not exist"}});
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0],
            (status::SignalView{
                .name = "bank", .p99_ms = 412, .error_rate = 0.01, .age_s = 1.5, .ceiling_ms = 400, .state = "over"}));
  EXPECT_EQ(views[1], (status::SignalView{.name = "lag",
                                          .ceiling_ms = 2000,
                                          .lag_ms = 3000,
                                          .state = "missing",
                                          .trouble = "group payments does not exist"}));
}

}  // namespace
}  // namespace spillway::app
