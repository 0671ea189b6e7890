// Whether a row's own headers hold given values.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::triage {

class HeaderCondition {
 public:
  // Each name to its value. A name that begins with / is a JSON pointer (RFC 6901) into the headers, any other is the
  // name of a header. A value is compared with the text of a string, and with the compact JSON of anything else. The
  // error names the pointer that is none.
  static std::expected<HeaderCondition, std::string> make(const std::map<std::string, std::string>& values);

  // `headers`: the text of a JSON object. False where one of them is missing or has another value; the error says why
  // nothing can be said.
  std::expected<bool, std::string> holds(std::string_view headers) const;

 private:
  struct Wanted {
    std::string pointer;
    std::string value;
  };
  std::vector<Wanted> wanted_;
};

}  // namespace spillway::triage
