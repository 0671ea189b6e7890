// A query about one outbox row, in the database's own SQL: it applies to the row where it returns one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"

namespace spillway::ports {

// The fields of a row that a query may name. `seq` is a number, `id` is a uuid where the database has that type, the
// others are text.
enum class RowField : std::uint8_t { kSeq, kId, kAggregateType, kAggregateId, kType, kKey };
inline constexpr std::size_t kRowFields = 6;

// The query cut at its placeholders: in order the text before each field, the last one without a field. A store puts
// its own reference to the field's value in between, and never the value as text.
struct Predicate {
  struct Piece {
    std::string text;
    std::optional<RowField> field{};

    bool operator==(const Piece&) const = default;
  };
  std::vector<Piece> pieces{};

  bool operator==(const Predicate&) const = default;
};

// A row as queries see it; the views must outlive the call.
struct AskedRow {
  std::int64_t seq = 0;
  base::Uuid id{};
  std::string_view aggregate_type{};
  std::optional<std::string_view> aggregate_id{};
  std::string_view type{};
  std::optional<std::string_view> key{};  // of the record that it would become
};

}  // namespace spillway::ports
