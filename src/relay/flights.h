// What has been handed to the sink and not been answered: one slot a record, whose number is the token.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "relay/window.h"

namespace spillway::relay {

struct Flight {
  Ordinal ordinal = 0;
  std::int64_t seq = 0;
  std::uint32_t gate = 0;
  std::uint32_t bytes = 0;
  std::uint32_t life = 0;  // of the relay's memory: an answer to a record of an earlier life frees its slot and no more
  base::Instant sent_at{};
  std::optional<base::Instant> created_at;
};

class Flights {
 public:
  std::uint64_t add(const Flight& flight) {
    ++count_;
    bytes_ += flight.bytes;
    if (free_.empty()) {
      slots_.push_back(flight);
      return slots_.size() - 1;
    }
    const std::uint64_t token = free_.back();
    free_.pop_back();
    slots_[token] = flight;
    return token;
  }

  Flight remove(std::uint64_t token) {
    const Flight flight = slots_[token];
    --count_;
    bytes_ -= flight.bytes;
    free_.push_back(token);
    return flight;
  }

  std::size_t count() const { return count_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<Flight> slots_;
  std::vector<std::uint64_t> free_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace spillway::relay
