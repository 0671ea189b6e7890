#include "postgres/answer.h"

#include <libpq-fe.h>

#include <charconv>
#include <cstdlib>

namespace spillway::postgres {

void Answer::Clear::operator()(pg_result* result) const { PQclear(result); }

int Answer::rows() const { return PQntuples(result_.get()); }

int Answer::columns() const { return PQnfields(result_.get()); }

bool Answer::is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }

std::string_view Answer::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Answer::number(int row, int column) const {
  std::int64_t value = 0;
  const std::string_view digits = text(row, column);
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

double Answer::real(int row, int column) const { return std::strtod(PQgetvalue(result_.get(), row, column), nullptr); }

}  // namespace spillway::postgres
