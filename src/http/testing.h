// For tests: one answer of a getter, waited for on the test's own thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "http/getter.h"

namespace spillway::http {

inline base::Result<GetterAnswer> ask(boost::asio::io_context& loop, Getter& getter) {
  std::optional<base::Result<GetterAnswer>> result;
  getter.get([&](base::Result<GetterAnswer> answer) { result = std::move(answer); });
  loop.restart();
  while (!result && loop.run_one() > 0) {
  }
  return *result;
}

}  // namespace spillway::http
