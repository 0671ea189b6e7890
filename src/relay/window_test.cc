#include "relay/window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace spillway::relay {
namespace {

model::Page page(model::Frame frame, std::vector<std::int64_t> seqs, model::Position next) {
  model::Page made;
  made.frame = std::move(frame);
  made.next = std::move(next);
  for (std::int64_t seq : seqs) {
    model::Row row;
    row.seq = seq;
    made.rows.push_back(row);
  }
  return made;
}

const model::Frame kFirst{"1:1:", "5:5:"};
const model::Position kAfterFirst{{"5:5:", ""}, std::nullopt};

TEST(Window, SavesOnlyUpToTheOldestRowThatIsNotFinished) {
  Window window({{"1:1:", ""}, std::nullopt});
  const Ordinal first = window.append(page(kFirst, {10, 11, 12}, kAfterFirst));

  window.finish(first + 1);
  EXPECT_EQ(window.position(), (model::Position{kFirst, std::nullopt}));
  EXPECT_EQ(window.ahead(), 1u);

  window.finish(first);
  EXPECT_EQ(window.position(), (model::Position{kFirst, 11}));
  EXPECT_EQ(window.ahead(), 0u);

  window.finish(first + 2);
  EXPECT_EQ(window.position(), kAfterFirst);
  EXPECT_TRUE(window.empty());
}

TEST(Window, AnEmptyPageMovesThePlaceAtOnceOnlyWhenNothingIsOpen) {
  Window window({{"1:1:", ""}, std::nullopt});
  const Ordinal first = window.append(page(kFirst, {10}, kAfterFirst));
  window.append(page({"5:5:", "9:9:"}, {}, {{"9:9:", ""}, std::nullopt}));
  EXPECT_EQ(window.position(), (model::Position{kFirst, std::nullopt}));
  window.finish(first);
  EXPECT_EQ(window.position(), (model::Position{{"9:9:", ""}, std::nullopt}));
}

TEST(Window, NeverPassesAnOpenRowInAnyOrderOfAcknowledgement) {
  EXPECT_TRUE(rc::check([] {
    Window window;
    std::vector<std::int64_t> seqs;
    std::vector<Ordinal> open;
    std::set<std::int64_t> finished;
    std::int64_t seq = 0;
    for (int i = 0, pages = *rc::gen::inRange(1, 5); i < pages; ++i) {
      std::vector<std::int64_t> mine;
      for (int k = 0, rows = *rc::gen::inRange(0, 6); k < rows; ++k) mine.push_back(++seq);
      const Ordinal first =
          window.append(page({std::to_string(i), std::to_string(i + 1)}, mine, {{std::to_string(i + 1), ""}, seq}));
      for (std::size_t k = 0; k < mine.size(); ++k) open.push_back(first + k);
      seqs.insert(seqs.end(), mine.begin(), mine.end());
    }
    while (!open.empty()) {
      const auto pick = *rc::gen::inRange<std::size_t>(0, open.size());
      finished.insert(seqs[open[pick]]);
      window.finish(open[pick]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
      const auto gap = std::find_if(seqs.begin(), seqs.end(), [&](auto s) { return !finished.contains(s); });
      const std::int64_t saved = window.position().last_seq.value_or(0);
      const std::int64_t all_before = gap == seqs.end() ? seq : *gap - 1;
      RC_ASSERT(saved == all_before);
      RC_ASSERT(window.open() == open.size());
      RC_ASSERT(window.ahead() ==
                static_cast<std::size_t>(std::count_if(gap, seqs.end(), [&](auto s) { return finished.contains(s); })));
    }
  }));
}

}  // namespace
}  // namespace spillway::relay
