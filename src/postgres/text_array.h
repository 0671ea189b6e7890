// A text[] in the form that a parameter takes: {"a","b \"c\"",NULL}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway::postgres {

class TextArray {
 public:
  void add(std::optional<std::string_view> element);

  // Complete; nothing can be added any more.
  std::string take() &&;

 private:
  std::string text_ = "{";
};

}  // namespace spillway::postgres
