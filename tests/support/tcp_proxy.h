#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace spillway::testing {

// Forwards TCP connections from a free port on 127.0.0.1 to another port there, and misbehaves on demand. All methods
// may be called from any thread at any time and take effect within milliseconds; cut() has taken effect when it
// returns.
class TcpProxy {
 public:
  enum class Cut {
    kClose,  // FIN, as from a process that ended properly
    kReset,  // RST, as from a host that forgot the connection
  };

  // A target of 0 refuses every connection until set_target().
  explicit TcpProxy(std::uint16_t target = 0);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::uint16_t port() const { return port_; }
  // For connections made from now on.
  void set_target(std::uint16_t port);

  // Ends every present connection on both sides; new ones are welcome.
  void cut(Cut how);
  // New connections are reset at once; present ones go on.
  void set_refusing(bool refusing);
  // Nothing is read from either side, nothing delivered; connections are still accepted, and stay silent.
  void set_blackhole(bool blackhole);
  // Added to every byte's way, in each direction.
  void set_delay(std::chrono::milliseconds delay);

  std::size_t connections() const;
  std::uint64_t bytes_forwarded() const;

 private:
  class Loop;
  std::uint16_t port_ = 0;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace spillway::testing
