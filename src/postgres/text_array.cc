#include "postgres/text_array.h"

#include <utility>

namespace spillway::postgres {

void TextArray::add(std::optional<std::string_view> element) {
  if (text_.size() > 1) text_ += ',';
  if (!element) {
    text_ += "NULL";
    return;
  }
  text_ += '"';
  for (const char c : *element) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

std::string TextArray::take() && { return std::move(text_) + '}'; }

}  // namespace spillway::postgres
