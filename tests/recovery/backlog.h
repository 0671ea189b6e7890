// What waits in the outbox when the relay starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace spillway::testing {

struct BacklogSpec {
  std::string topic;
  std::int64_t events = 0;
  std::int64_t keys = 1;
  std::vector<std::string> types = {"order.changed"};  // one event each in turn
  std::chrono::seconds age{600};                       // of created_at

  std::string key(std::int64_t number) const;
  // Events of the key with this number, 0 <= number < keys: they are dealt out in turn and numbered from 1.
  std::int64_t events_of_key(std::int64_t number) const;
};

// By COPY, in one transaction. Throws std::runtime_error where the server does not take it.
void fill(const std::string& uri, const BacklogSpec& spec);

}  // namespace spillway::testing
