#include "sqlite/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sqlite/failure.h"

namespace spillway::sqlite {
namespace {

std::optional<std::int64_t> seq_in(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Failure(base::ErrorClass::kLostPlace, fmt::format("\"{}\" is no place in an SQLite outbox", text));
  }
  return seq;
}

}  // namespace

Place place_of(const model::Position& position) {
  return {std::max(seq_in(position.frame.from).value_or(0), position.last_seq.value_or(0)), seq_in(position.frame.to)};
}

model::Position open_after(std::int64_t seq) { return {{fmt::to_string(seq), ""}, std::nullopt}; }

}  // namespace spillway::sqlite
