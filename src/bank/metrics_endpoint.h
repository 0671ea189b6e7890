// Serves a MetricsPage at /metrics of a free port of 127.0.0.1, well or badly. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bank/metrics_page.h"

namespace boost::asio {
class io_context;
}
namespace spillway::http {
class Server;
}

namespace spillway::bank {

enum class EndpointFault : std::uint8_t {
  kNone,
  kRefuses,     // nobody listens
  kFrozen,      // the page of the moment in which this began, again and again
  kNotANumber,  // every value is NaN
  kHtml,        // 200, and a page for people
};

class MetricsEndpoint {
 public:
  // Throws std::runtime_error where no port is free.
  MetricsEndpoint(boost::asio::io_context& loop, const MetricsPage& page);
  ~MetricsEndpoint();

  // Throws std::runtime_error where the port was taken by somebody else as it changed hands.
  void set_fault(EndpointFault fault);
  std::string url() const;

 private:
  struct Keeper;

  void listen();
  std::string body() const;

  boost::asio::io_context& loop_;
  const MetricsPage& page_;
  EndpointFault fault_ = EndpointFault::kNone;
  std::string frozen_;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Keeper> keeper_;  // of the port, while nobody listens
};

}  // namespace spillway::bank
