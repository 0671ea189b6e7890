// The row's own headers: the members of a JSON object (RFC 8259) as text, read without building a document and without
// losing a digit of a number. Bytes of strings are taken as they are, whether UTF-8 or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway::relay {

class HeaderObject {
 public:
  // `json` must outlive it.
  explicit HeaderObject(std::string_view json) : json_(json) {}

  struct Member {
    std::string_view name;
    std::string_view value;  // of a string its text, of anything else compact JSON
  };

  // The next member in the order in which they stand; empty at the end and where it is no JSON object. The views point
  // into `json` where that needs no change, else into `name_space` or `value_space`.
  std::optional<Member> next(std::string& name_space, std::string& value_space);

  // Once `next` came back empty: whether all of it was one JSON object.
  bool good() const { return !bad_; }

 private:
  static constexpr int kDeepest = 200;  // arrays and objects inside each other

  bool begin_member();
  bool fail();
  bool take(char c);
  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  void skip_blanks();
  bool skip_value(int depth);
  bool skip_string();
  bool skip_number();
  bool skip_digits();
  bool skip_word(std::string_view word);
  bool skip_list(char end, bool named, int depth);
  std::string_view text_of(std::string_view quoted, std::string& space);

  std::string_view json_;
  std::size_t at_ = 0;
  bool begun_ = false;
  bool bad_ = false;
};

}  // namespace spillway::relay
