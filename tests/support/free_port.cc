#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <stdexcept>

namespace spillway::testing {
namespace {

constexpr int kLowest = 15000;
constexpr int kHighest = 31999;  // Linux hands out 32768 and above by default
constexpr int kAttempts = 1000;

bool can_bind(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0;
  close(fd);
  return bound;
}

}  // namespace

std::uint16_t free_port() {
  static std::mt19937 engine{std::random_device{}()};
  std::uniform_int_distribution<int> candidates{kLowest, kHighest};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto port = static_cast<std::uint16_t>(candidates(engine));
    if (can_bind(port)) return port;
  }
  throw std::runtime_error("no free port on 127.0.0.1 between 15000 and 31999");
}

}  // namespace spillway::testing
