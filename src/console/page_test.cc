#include "console/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/assemble.h"

namespace spillway::console {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StatusPage, EscapesWhateverComesFromOutside) {
  ports::Figures figures;
  figures.pause = {.all = true, .reason = "<script>alert('x')</script>", .who = "\"ann\" & co"};
  const std::string page = status_page(status::assemble({.outbox = "a<b"}, {.figures = figures}, {}));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("<title>Spillway: a&lt;b</title>"));
}

TEST(StatusPage, TakesNothingFromElsewhere) {
  const std::string page = status_page(status::assemble({}, {.figures = ports::Figures{}}, {}));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr("style=\"")));
  EXPECT_THAT(page, HasSubstr("http-equiv=\"refresh\""));
}

}  // namespace
}  // namespace spillway::console
