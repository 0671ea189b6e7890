#include "postgres/copy_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

namespace spillway::postgres {
namespace {

constexpr std::size_t kHeader = 19;  // signature, flags, length of an empty extension
constexpr std::int16_t kRowColumns = 8;
constexpr std::int64_t kMicrosFrom1970To2000 = 946'684'800'000'000;

template <typename Number>
Number big_endian(const char* bytes) {
  Number value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (sizeof(Number) == 2) return static_cast<Number>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  if constexpr (sizeof(Number) == 4) return static_cast<Number>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  if constexpr (sizeof(Number) == 8) return static_cast<Number>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}
static_assert(std::endian::native == std::endian::little);

using Field = std::optional<std::string_view>;

bool take_field(std::string_view& message, Field& field) {
  if (message.size() < 4) return false;
  const auto size = big_endian<std::int32_t>(message.data());
  message.remove_prefix(4);
  field.reset();
  if (size == -1) return true;
  if (size < 0 || static_cast<std::size_t>(size) > message.size()) return false;
  field = message.substr(0, static_cast<std::size_t>(size));
  message.remove_prefix(static_cast<std::size_t>(size));
  return true;
}

model::Timestamp timestamp(const Field& field) {
  if (!field) return {};
  const auto micros = big_endian<std::int64_t>(field->data());
  if (micros == std::numeric_limits<std::int64_t>::max()) return {model::Timestamp::Kind::kInfinity, 0};
  if (micros == std::numeric_limits<std::int64_t>::min()) return {model::Timestamp::Kind::kMinusInfinity, 0};
  return model::Timestamp::at(micros + kMicrosFrom1970To2000);
}

}  // namespace

std::string copy_columns(const TableLayout& layout, bool payload_is_jsonb) {
  const auto column = [](const std::string& name) { return "o." + identifier(name); };
  const auto optional = [&](const std::string& name, const char* type) {
    return name.empty() ? fmt::format("null::{}", type) : column(name) + "::" + type;
  };
  std::string id = column(layout.id) + "::uuid";
  if (layout.adopted) {
    // An id of another kind gets the same UUID every time, so that consumers can tell a repetition.
    const std::string text = column(layout.id.empty() ? layout.seq : layout.id) + "::text";
    id = fmt::format(
        "(case when {0} ~ '^[0-9a-fA-F]{{8}}(-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}$' then {0} "
        "else md5({1} || ':' || coalesce({0}, 'seq ' || {2}::text)) end)::uuid",
        text, literal(layout.name()), column(layout.seq));
  }
  const std::string headers =
      layout.header_values.empty()
          ? optional(layout.headers, "text")
          : fmt::format("jsonb_object({}, {})::text", column(layout.headers), column(layout.header_values));
  return fmt::format("{}::bigint, {}, {}, {}, {}, {}{}, {}, {}", column(layout.seq), id,
                     optional(layout.aggregate_type, "text"), optional(layout.aggregate_id, "text"),
                     optional(layout.type, "text"), column(layout.payload), payload_is_jsonb ? "::text" : "", headers,
                     optional(layout.created_at, "timestamptz"));
}

bool CopyRows::take(std::string_view message) {
  if (!started_) {
    started_ = true;
    if (message.size() < kHeader) {
      malformed_ = true;
      return false;
    }
    message.remove_prefix(kHeader);
  }
  while (message.size() >= 2) {
    const auto columns = big_endian<std::int16_t>(message.data());
    message.remove_prefix(2);
    if (columns == -1) return true;  // the end
    if (columns != kRowColumns || !take_row(message)) {
      malformed_ = true;
      return false;
    }
  }
  return dropped_bytes_ <= byte_limit_;
}

bool CopyRows::take_row(std::string_view& message) {
  std::array<Field, kRowColumns> fields;
  const std::size_t before = message.size();
  for (Field& field : fields) {
    if (!take_field(message, field)) return false;
  }
  const bool fits = fields[0] && fields[0]->size() == 8 && fields[1] && fields[1]->size() == 16 &&
                    (!fields[7] || fields[7]->size() == 8);
  if (!fits) return false;
  ++seen_;
  if (full()) {
    dropped_bytes_ += before - message.size();
    return true;
  }
  const auto keep = [&](const Field& field) { return field ? Field(page_.arena.copy(*field)) : std::nullopt; };
  model::Row& row = page_.rows.emplace_back();
  row.seq = big_endian<std::int64_t>(fields[0]->data());
  std::ranges::copy(*fields[1], reinterpret_cast<char*>(row.id.bytes.data()));
  row.aggregate_type = keep(fields[2]).value_or(std::string_view());
  row.aggregate_id = keep(fields[3]);
  row.type = keep(fields[4]).value_or(std::string_view());
  row.payload = keep(fields[5]);
  row.headers = keep(fields[6]);
  row.created_at = timestamp(fields[7]);
  bytes_ += row.bytes();
  return true;
}

}  // namespace spillway::postgres
