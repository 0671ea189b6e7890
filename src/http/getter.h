// Asks one URL again and again from a loop that somebody else runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace boost::asio {
class io_context;
}

namespace spillway::http {

struct GetterOptions {
  std::string url{};  // http:// or https://
  std::string ca{};   // file of the PEM certificates that may stand behind https; empty: those that the system trusts
  std::string accept = "*/*";
  std::chrono::milliseconds timeout{500};  // for all of one request: name, connection, handshake and body
  std::size_t body_bytes = 8 << 20;
};

struct GetterAnswer {
  unsigned status = 0;
  std::string content_type{};
  std::string body{};
  std::optional<double> retry_after_s{};  // from seconds, or from a date against the answer's own Date; at most 300
  base::Duration took{};
};

// Loop thread only. The connection is kept between two requests; where the other side closed it meanwhile, a new one is
// made within the same timeout. Behind https there is TLS 1.2 at least, and always a certificate that is trusted and
// for the URL's host.
class Getter {
 public:
  // kUnavailable: no whole answer in time, the message says why in a few words. Any status is an answer.
  using Done = std::function<void(base::Result<GetterAnswer>)>;

  // kMisconfigured where the URL is not one of these, or `ca` cannot be used.
  static base::Result<std::unique_ptr<Getter>> open(boost::asio::io_context& loop, GetterOptions options);
  // A request under way is dropped; its `done` is not called.
  ~Getter();

  // One at a time: the one before must be done.
  void get(Done done);

 private:
  struct State;
  explicit Getter(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace spillway::http
