// A pattern over text in which * stands for any text, also for none. Every other character stands for itself.
#pragma once

#include <string>
#include <string_view>

namespace spillway::triage {

class Glob {
 public:
  explicit Glob(std::string pattern) : pattern_(std::move(pattern)) {}

  bool matches(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

 private:
  std::string pattern_;
};

}  // namespace spillway::triage
