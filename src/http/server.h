// A small HTTP/1.1 server on a loop that somebody else runs.
//
// Threads: everything happens on the thread that runs the io_context; handlers are called there and must not block.
// Every limit has a name; a client that exceeds one is answered (413, 431, 503) or cut off, and none of them waits for
// another.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/message.h"

namespace boost::asio {
class io_context;
}

namespace spillway::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address or a name; IPv6 without brackets
  std::uint16_t port = 8787;       // 0: any free one
  std::string token{};             // empty: changes need none. Never logged
  bool insecure = false;           // beyond loopback without a token is meant
  std::size_t clients = 32;
  std::size_t body_bytes = 64 * 1024;
  std::size_t header_bytes = 16 * 1024;
  // For a whole request, for a whole answer, and for silence between two requests.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class Server {
 public:
  // kMisconfigured where the address is not free, is not ours, or would be open to everybody. The message names the
  // configuration key.
  static base::Result<std::unique_ptr<Server>> listen(boost::asio::io_context& loop, const ServerOptions& options);
  // Closes the socket and every connection; answers that come later go nowhere. Loop thread only.
  ~Server();

  // An exact path. GET routes answer HEAD as well. Before the loop runs.
  void route(const std::string& method, const std::string& path, Handler handler);

  std::uint16_t port() const;
  std::string address() const;  // "127.0.0.1:8787", "[::1]:8787"
  std::size_t clients() const;

 private:
  struct State;
  explicit Server(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace spillway::http
