// Tells a Spillway relay how the calls of this process went: one header, C++17, POSIX sockets, nothing else.
//
//   spillway::observations::Client bank({"bank"});           // the name of a signal of kind push
//   const auto began = std::chrono::steady_clock::now();
//   const bool ok = call();
//   bank.record(std::chrono::steady_clock::now() - began, ok);
//
// record() takes a lock for some nanoseconds and never waits for the network. Calls are counted by latency in cells of
// 2 %, so memory is fixed (some 80 KB) and none is left out, however many there are. One thread sends what was counted
// every 100 ms, over one connection. What cannot be sent is dropped and counted in lost(): observations that come late
// would be taken for calls of now.
#pragma once

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace spillway::observations {

struct Options {
  std::string signal{};  // 1 to 64 letters, digits, '_', '-', '.'
  std::string host = "127.0.0.1";
  std::uint16_t port = 8787;
  std::string token{};  // http.token, where the relay has one
  std::chrono::milliseconds every{100};
  std::chrono::milliseconds timeout{1000};  // of one request
};

// Any thread may record. The destructor sends what is left and takes at most about one timeout.
class Client {
 public:
  // Throws std::invalid_argument where the name cannot be that of a signal. The relay need not be there.
  explicit Client(Options options) : options_(std::move(options)) {
    const auto legal = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
    if (options_.signal.empty() || options_.signal.size() > 64 ||
        !std::all_of(options_.signal.begin(), options_.signal.end(), legal)) {
      throw std::invalid_argument("spillway: not the name of a signal: " + options_.signal);
    }
    // The program's signals are for the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sender_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Client() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    sender_.join();
    close_connection();
  }

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `ok`: answered in time and without an error of the service.
  void record(std::chrono::nanoseconds latency, bool ok) {
    const double ms = std::max(0.0, std::chrono::duration<double, std::milli>(latency).count());
    const std::size_t cell = cell_of(ms);
    const std::lock_guard<std::mutex> lock(mutex_);
    Cell& counted = (*filling_)[ok ? 1 : 0][cell];
    ++counted.count;
    counted.sum_ms += ms;
  }

  // Calls that were recorded and could not be told.
  std::uint64_t lost() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return lost_;
  }
  // Why the last request failed; empty where it did not.
  std::string last_error() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_error_;
  }

 private:
  static constexpr std::size_t kCells = 1300;           // from a microsecond to a day, 2 % each
  static constexpr std::size_t kCellsPerRequest = 400;  // below the 64 KiB that the relay takes
  static constexpr std::uint64_t kMostAtOnce = 1000000;

  struct Cell {
    std::uint64_t count = 0;
    double sum_ms = 0;
  };
  using Table = std::array<std::array<Cell, kCells>, 2>;

  static std::size_t cell_of(double ms) {
    const double cell = std::log(std::max(ms, 1e-3) / 1e-3) / std::log(1.02);
    return std::min(static_cast<std::size_t>(cell), kCells - 1);
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    bool last = false;
    while (!last) {
      changed_.wait_for(lock, options_.every, [this] { return stopping_; });
      last = stopping_;
      std::swap(filling_, sending_);
      lock.unlock();
      send_all();
      lock.lock();
    }
  }

  void send_all() {
    std::string body;
    std::uint64_t told = 0;
    std::size_t cells = 0;
    for (const bool ok : {false, true}) {
      for (Cell& cell : (*sending_)[ok ? 1 : 0]) {
        const double mean_ms =
            cell.count == 0 ? 0 : std::min(cell.sum_ms / static_cast<double>(cell.count), 86400000.0);
        for (; cell.count > 0; ++cells) {
          if (cells == kCellsPerRequest) send(std::exchange(body, {}), std::exchange(told, 0)), cells = 0;
          const std::uint64_t count = std::min(cell.count, kMostAtOnce);
          char text[160];
          std::snprintf(text, sizeof text, "{\"name\":\"%s\",\"latency_ms\":%.4f,\"ok\":%s,\"count\":%llu}",
                        options_.signal.c_str(), mean_ms, ok ? "true" : "false",
                        static_cast<unsigned long long>(count));
          body += body.empty() ? "" : ",";
          body += text;
          told += count;
          cell.count -= count;
        }
        cell = {};
      }
    }
    if (told > 0) send(body, told);
  }

  void send(const std::string& entries, std::uint64_t calls) {
    deadline_ = std::chrono::steady_clock::now() + options_.timeout;
    const bool kept = socket_ >= 0;
    bool untouched = true;
    std::string error = request("[" + entries + "]", untouched);
    // A connection that was idle may have been closed by the other side.
    if (!error.empty() && kept && untouched) error = request("[" + entries + "]", untouched);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error.empty()) lost_ += calls;
    last_error_ = error;
  }

  // Empty: told. `untouched`: not a byte of an answer came.
  std::string request(const std::string& body, bool& untouched) {
    untouched = true;
    if (socket_ < 0) {
      const std::string error = connect_to_relay();
      if (!error.empty()) return fail(error);
    }
    std::string text = "POST /api/observations HTTP/1.1\r\nHost: " + options_.host + ":" +
                       std::to_string(options_.port) +
                       "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    if (!options_.token.empty()) text += "Authorization: Bearer " + options_.token + "\r\n";
    text += "\r\n" + body;
    for (std::size_t sent = 0; sent < text.size();) {
      if (!wait_for(POLLOUT)) return fail("no answer in time");
      const ssize_t n = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return fail(std::strerror(errno));
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
    return read_answer(untouched);
  }

  std::string read_answer(bool& untouched) {
    std::string answer;
    std::size_t whole = std::string::npos;
    while (answer.size() < whole) {
      if (!wait_for(POLLIN)) return fail("no answer in time");
      char bytes[2048];
      const ssize_t n = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (n <= 0) return fail(n == 0 ? "closed the connection" : std::strerror(errno));
      untouched = false;
      answer.append(bytes, static_cast<std::size_t>(n));
      if (answer.size() > 65536) return fail("answers too much");
      if (whole == std::string::npos) whole = length_of(answer);
    }
    if (answer.compare(0, 9, "HTTP/1.1 ") != 0) return fail("answers no HTTP");
    if (has_header(answer, "connection: close")) close_connection();
    const std::string status = answer.substr(9, 3);
    if (status == "200") return {};
    return "answers " + status + ": " + answer.substr(answer.find("\r\n\r\n") + 4);
  }

  // Of head and body; npos while the head is not there. Without a length the body is not read, and the connection not
  // kept.
  std::size_t length_of(const std::string& answer) {
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string::npos) return std::string::npos;
    const std::size_t at = lower(answer.substr(0, end)).find("\r\ncontent-length:");
    if (at == std::string::npos) {
      close_connection();
      return end + 4;
    }
    return end + 4 + std::strtoul(answer.c_str() + at + 17, nullptr, 10);
  }

  static std::string lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return text;
  }
  static bool has_header(const std::string& answer, const char* header) {
    return lower(answer.substr(0, answer.find("\r\n\r\n"))).find(header) != std::string::npos;
  }

  std::string connect_to_relay() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(options_.host.c_str(), std::to_string(options_.port).c_str(), &hints, &found) != 0) {
      return "unknown host " + options_.host;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    std::string error = "no address";
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      close_connection();
      socket_ = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol);
      if (socket_ < 0) return std::strerror(errno);
      if (::connect(socket_, one->ai_addr, one->ai_addrlen) == 0) return {};
      int failed = errno;
      if (failed == EINPROGRESS && wait_for(POLLOUT)) {
        socklen_t size = sizeof failed;
        ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &failed, &size);
        if (failed == 0) return {};
      }
      error = std::strerror(failed == EINPROGRESS ? ETIMEDOUT : failed);
    }
    return error;
  }

  bool wait_for(short what) const {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now()).count();
      if (left <= 0) return false;
      pollfd ready{socket_, what, 0};
      const int n = ::poll(&ready, 1, static_cast<int>(left));
      if (n > 0) return true;
      if (n < 0 && errno != EINTR) return false;
    }
  }

  std::string fail(std::string why) {
    close_connection();
    return why;
  }

  void close_connection() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex.
  std::unique_ptr<Table> filling_ = std::make_unique<Table>();
  std::uint64_t lost_ = 0;
  std::string last_error_;
  bool stopping_ = false;
  // The sender's.
  std::unique_ptr<Table> sending_ = std::make_unique<Table>();
  int socket_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  std::thread sender_;
};

}  // namespace spillway::observations
