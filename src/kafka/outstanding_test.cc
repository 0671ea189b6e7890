#include "kafka/outstanding.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace spillway::kafka {
namespace {

// Against a plain list of what was added and not taken.
TEST(Outstanding, KeepsTheOrderOfSendingThroughAnyTakes) {
  EXPECT_TRUE(rc::check([] {
    Outstanding outstanding;
    std::map<std::uint64_t, Outstanding::Slot> model;  // by token, which rises
    std::uint64_t next = 0;
    const auto steps = *rc::gen::container<std::vector<unsigned>>(rc::gen::arbitrary<unsigned>());
    for (const unsigned step : steps) {
      if (step % 3 != 0 || model.empty()) {
        const std::uint64_t token = next++;
        model[token] = outstanding.add({token, 1, 2, step % 100});
      } else {
        auto chosen = std::next(model.begin(), static_cast<std::ptrdiff_t>(step % model.size()));
        RC_ASSERT(outstanding.take(chosen->second).token == chosen->first);
        model.erase(chosen);
      }
    }
    RC_ASSERT(outstanding.size() == model.size());
    const std::vector<Outstanding::Entry> rest = outstanding.take_all();
    RC_ASSERT(rest.size() == model.size());
    auto expected = model.begin();
    for (const Outstanding::Entry& entry : rest) RC_ASSERT(entry.token == (expected++)->first);
    RC_ASSERT(outstanding.size() == 0U);
    RC_ASSERT(outstanding.bytes() == 0U);
  }));
}

}  // namespace
}  // namespace spillway::kafka
