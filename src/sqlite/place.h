// Positions as this store writes them: a frame is two numbers in decimal, the rows with from < seq <= to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/position.h"

namespace spillway::sqlite {

struct Place {
  std::int64_t after = 0;          // rows with a larger seq are not finished
  std::optional<std::int64_t> to;  // last seq of the frame; empty while it is open
};

// Throws Failure kLostPlace where the position was not made by this store.
Place place_of(const model::Position& position);

// The open position after everything up to and including `seq`.
model::Position open_after(std::int64_t seq);

}  // namespace spillway::sqlite
