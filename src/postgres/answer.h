// The rows that one statement returned, in text format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pg_result;

namespace spillway::postgres {

class Answer {
 public:
  explicit Answer(pg_result* result) : result_(result) {}

  int rows() const;
  int columns() const;
  bool is_null(int row, int column) const;
  // Empty for NULL; valid as long as the answer.
  std::string_view text(int row, int column) const;
  // Numbers and flags expect what the statement promises; anything else reads as 0 or false.
  std::int64_t number(int row, int column) const;
  double real(int row, int column) const;
  bool flag(int row, int column) const { return text(row, column) == "t"; }

  std::optional<std::int64_t> maybe_number(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional(number(row, column));
  }
  std::optional<double> maybe_real(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional(real(row, column));
  }

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

}  // namespace spillway::postgres
