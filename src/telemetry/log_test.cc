#include "telemetry/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace spillway::telemetry {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;

// What a log wrote, once it has ended.
class Written {
 public:
  Written() : file_(std::tmpfile()) {}
  ~Written() { std::fclose(file_); }
  std::FILE* file() const { return file_; }
  std::vector<std::string> lines() const {
    std::rewind(file_);
    std::string all;
    for (int c = 0; (c = std::fgetc(file_)) != EOF;) all += static_cast<char>(c);
    std::istringstream in(all);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::FILE* file_;
};

TEST(LogLine, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(text_line(LogLevel::kWarn, "row set aside", {{"id", "a1"}, {"reason", "too large: 2 MiB"}, {"n", 3}}, 0),
            "warn  row set aside id=a1 reason=\"too large: 2 MiB\" n=3");
  EXPECT_EQ(text_line(LogLevel::kInfo, "m", {{"empty", ""}, {"yes", true}, {"share", 0.5}}, 2),
            "info  m empty=\"\" yes=true share=0.5 suppressed=2");
}

TEST(LogLine, IsOneLineWhateverComesIn) {
  EXPECT_EQ(text_line(LogLevel::kInfo, "a\nb", {{"x", "c\nd"}}, 0), "info  a b x=\"c\\nd\"");
}

TEST(LogLine, JsonMembersMakeAnObject) {
  const auto json = nlohmann::json::parse(
      "{" + json_members(LogLevel::kError, "say \"it\"", {{"n", -3}, {"t", "\xff"}, {"b", false}}, 4) + "}");
  EXPECT_EQ(json["level"], "error");
  EXPECT_EQ(json["message"], "say \"it\"");
  EXPECT_EQ(json["n"], -3);
  EXPECT_EQ(json["b"], false);
  EXPECT_EQ(json["suppressed"], 4);
}

TEST(Log, WritesInOrderAndAllOfItBeforeItEnds) {
  const Written written;
  {
    Log log({.out = written.file(), .repeats = 1000});
    for (int i = 0; i < 500; ++i) log.info("tick", {{"i", i}});
  }
  const auto lines = written.lines();
  ASSERT_EQ(lines.size(), 500u);
  EXPECT_THAT(lines[0], MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z info  tick i=0"));
  EXPECT_THAT(lines[499], EndsWith("i=499"));
}

TEST(Log, LeavesOutWhatIsBelowItsLevelUntilThatChanges) {
  const Written written;
  {
    Log log({.level = LogLevel::kWarn, .out = written.file()});
    log.info("quiet");
    log.set_level(LogLevel::kDebug);
    log.debug("heard");
  }
  ASSERT_EQ(written.lines().size(), 1u);
  EXPECT_THAT(written.lines()[0], HasSubstr("heard"));
}

TEST(Log, KeepsARepeatedMessageFromFillingIt) {
  const Written written;
  {
    Log log({.out = written.file(), .repeats = 3});
    for (int i = 0; i < 100; ++i) log.error("broker does not answer", {{"try", i}});
    log.error("something else");
  }
  EXPECT_EQ(written.lines().size(), 4u);
}

TEST(Log, EveryLineOfAJsonLogIsAnObjectWithATime) {
  const Written written;
  {
    Log log({.format = LogFormat::kJson, .out = written.file()});
    log.info("a {braces} and %v", {{"k", "v"}});
  }
  const auto json = nlohmann::json::parse(written.lines().at(0));
  EXPECT_EQ(json["message"], "a {braces} and %v");
  EXPECT_THAT(json["time"].get<std::string>(), EndsWith("Z"));
}

}  // namespace
}  // namespace spillway::telemetry
