// Rows out of COPY … TO STDOUT (FORMAT binary), straight into a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/row.h"
#include "ports/outbox_store.h"
#include "postgres/layout.h"

namespace spillway::postgres {

// The columns a page needs, in the order that CopyRows expects, of the table alias `o`. `payload_is_jsonb`: that type
// alone has no plain bytes of its own.
std::string copy_columns(const TableLayout& layout, bool payload_is_jsonb);

// Takes the messages of one COPY. Keeps rows until one passes the byte limit; what follows is dropped.
class CopyRows {
 public:
  CopyRows(model::Page& page, std::size_t byte_limit) : page_(page), byte_limit_(byte_limit) {}

  // False: so much has come beyond the limit that reading on costs more than a new connection.
  bool take(std::string_view message);

  bool full() const { return bytes_ >= byte_limit_; }
  std::size_t bytes() const { return bytes_; }  // kept
  std::size_t seen() const { return seen_; }    // rows, dropped ones included
  bool malformed() const { return malformed_; }

 private:
  bool take_row(std::string_view& message);

  model::Page& page_;
  std::size_t byte_limit_;
  std::size_t bytes_ = 0;
  std::size_t dropped_bytes_ = 0;
  std::size_t seen_ = 0;
  bool started_ = false;
  bool malformed_ = false;
};

}  // namespace spillway::postgres
