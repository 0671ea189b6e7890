#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLargestBuffer = 4 << 20;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  // The close that follows sends RST instead of FIN.
  void forget() const {
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  void send_promptly() const {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

 private:
  int fd_ = -1;
};

// One direction of a connection: what was read and waits for its time or for room on the other side.
struct Stream {
  struct Chunk {
    Clock::time_point due;
    std::string bytes;
  };
  std::deque<Chunk> chunks;
  std::size_t buffered = 0;
  bool source_ended = false;
  bool end_passed_on = false;

  bool has_room() const { return !source_ended && buffered < kLargestBuffer; }
  bool has_due(Clock::time_point now) const { return !chunks.empty() && chunks.front().due <= now; }
};

struct Link {
  Socket client;
  Socket server;
  Stream up;    // client to server
  Stream down;  // server to client
  bool broken = false;
};

void pull(const Socket& from, Stream& stream, Clock::time_point due, bool& broken) {
  std::array<char, 65536> buffer;
  const ssize_t size = recv(from.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size > 0) {
    stream.chunks.push_back({due, std::string(buffer.data(), static_cast<std::size_t>(size))});
    stream.buffered += static_cast<std::size_t>(size);
  } else if (size == 0) {
    stream.source_ended = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    broken = true;
  }
}

std::uint64_t push(const Socket& to, Stream& stream, Clock::time_point now, bool& broken) {
  std::uint64_t sent = 0;
  while (stream.has_due(now)) {
    std::string& bytes = stream.chunks.front().bytes;
    const ssize_t size = send(to.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      if (errno != EAGAIN && errno != EINTR) broken = true;
      break;
    }
    sent += static_cast<std::uint64_t>(size);
    stream.buffered -= static_cast<std::size_t>(size);
    bytes.erase(0, static_cast<std::size_t>(size));
    if (bytes.empty()) stream.chunks.pop_front();
  }
  if (stream.source_ended && stream.chunks.empty() && !stream.end_passed_on) {
    shutdown(to.fd(), SHUT_WR);
    stream.end_passed_on = true;
  }
  return sent;
}

}  // namespace

class TcpProxy::Loop {
 public:
  explicit Loop(std::uint16_t target) : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), target_(target) {
    listener_ = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_.fd(), 128) != 0 ||
        getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::system_error(errno, std::generic_category(), "a proxy cannot listen");
    }
    port_ = ntohs(address.sin_port);
  }

  std::uint16_t port() const { return port_; }

  template <typename Change>
  void change(Change apply) {
    const std::lock_guard lock(mutex_);
    apply(*this);
    wake();
  }

  void cut(Cut how) {
    std::unique_lock lock(mutex_);
    pending_cut_ = how;
    wake();
    cut_done_.wait(lock, [this] { return !pending_cut_ || stopping_; });
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      apply_cut();
      const auto polled = descriptors();
      lock.unlock();
      auto ready = polled;
      poll(ready.data(), ready.size(), timeout_ms_);
      lock.lock();
      serve(ready);
    }
    cut_done_.notify_all();
  }

  std::uint16_t target() const { return target_; }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_;
  std::uint64_t forwarded_ = 0;
  bool stopping_ = false;
  bool refusing_ = false;
  bool blackhole_ = false;
  std::chrono::milliseconds delay_{0};

  void aim_at(std::uint16_t target) { target_ = target; }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_.fd(), &one, sizeof one);
  }

  void apply_cut() {
    if (!pending_cut_) return;
    for (const auto& link : links_) {
      if (*pending_cut_ != Cut::kReset) continue;
      link->client.forget();
      link->server.forget();
    }
    links_.clear();
    pending_cut_.reset();
    cut_done_.notify_all();
  }

  // The wake-up, the listener, then two descriptors a link. Also settles how long to wait for what is being delayed.
  std::vector<pollfd> descriptors() {
    std::vector<pollfd> polled = {{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    const auto now = Clock::now();
    timeout_ms_ = -1;
    for (const auto& link : links_) {
      polled.push_back({link->client.fd(), wanted(link->up, link->down, now), 0});
      polled.push_back({link->server.fd(), wanted(link->down, link->up, now), 0});
      if (polled[polled.size() - 2].events == 0) polled[polled.size() - 2].fd = -1;
      if (polled.back().events == 0) polled.back().fd = -1;
    }
    return polled;
  }

  short wanted(const Stream& reads, const Stream& writes, Clock::time_point now) {
    if (blackhole_) return 0;
    if (!writes.chunks.empty() && !writes.has_due(now)) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(writes.chunks.front().due - now).count();
      timeout_ms_ = timeout_ms_ < 0 ? static_cast<int>(left) : std::min(timeout_ms_, static_cast<int>(left));
    }
    return static_cast<short>((reads.has_room() ? POLLIN : 0) | (writes.has_due(now) ? POLLOUT : 0));
  }

  void serve(const std::vector<pollfd>& ready) {
    std::uint64_t drained = 0;
    if (ready[0].revents != 0) [[maybe_unused]]
      const auto size = read(wake_.fd(), &drained, sizeof drained);
    if (!blackhole_) {
      const auto now = Clock::now();
      for (std::size_t i = 0; i < links_.size() && 2 * i + 3 < ready.size(); ++i) {
        move_bytes(*links_[i], ready[2 * i + 2].revents, ready[2 * i + 3].revents, now);
      }
      std::erase_if(links_, [](const auto& link) { return ended(*link); });
    }
    if (ready[1].revents != 0) welcome();
  }

  void move_bytes(Link& link, short client_events, short server_events, Clock::time_point now) {
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if ((client_events & kReadable) != 0 && link.up.has_room()) pull(link.client, link.up, now + delay_, link.broken);
    if ((server_events & kReadable) != 0 && link.down.has_room())
      pull(link.server, link.down, now + delay_, link.broken);
    forwarded_ += push(link.server, link.up, now, link.broken);
    forwarded_ += push(link.client, link.down, now, link.broken);
    if (!link.broken) return;
    link.client.forget();  // what one side suffered, the other shall see
    link.server.forget();
  }

  static bool ended(const Link& link) { return link.broken || (link.up.end_passed_on && link.down.end_passed_on); }

  void welcome() {
    Socket client(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.fd() < 0) return;
    // Connecting over loopback is settled at once, also while the target is frozen: the kernel answers for it.
    Socket server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(target_);
    if (refusing_ || target_ == 0 ||
        connect(server.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      client.forget();
      return;
    }
    client.send_promptly();
    server.send_promptly();
    auto link = std::make_unique<Link>();
    link->client = std::move(client);
    link->server = std::move(server);
    links_.push_back(std::move(link));
  }

  Socket wake_;
  Socket listener_;
  std::uint16_t port_ = 0;
  std::uint16_t target_;
  std::optional<Cut> pending_cut_;
  std::condition_variable cut_done_;
  int timeout_ms_ = -1;
};

TcpProxy::TcpProxy(std::uint16_t target) : loop_(std::make_unique<Loop>(target)), thread_([this] { loop_->run(); }) {
  port_ = loop_->port();
}

TcpProxy::~TcpProxy() {
  loop_->change([](Loop& loop) { loop.stopping_ = true; });
  thread_.join();
}

void TcpProxy::set_target(std::uint16_t port) {
  loop_->change([=](Loop& loop) { loop.aim_at(port); });
}

void TcpProxy::cut(Cut how) { loop_->cut(how); }

void TcpProxy::set_refusing(bool refusing) {
  loop_->change([=](Loop& loop) { loop.refusing_ = refusing; });
}

void TcpProxy::set_blackhole(bool blackhole) {
  loop_->change([=](Loop& loop) { loop.blackhole_ = blackhole; });
}

void TcpProxy::set_delay(std::chrono::milliseconds delay) {
  loop_->change([=](Loop& loop) { loop.delay_ = delay; });
}

std::size_t TcpProxy::connections() const {
  const std::lock_guard lock(loop_->mutex_);
  return loop_->links_.size();
}

std::uint64_t TcpProxy::bytes_forwarded() const {
  const std::lock_guard lock(loop_->mutex_);
  return loop_->forwarded_;
}

}  // namespace spillway::testing
