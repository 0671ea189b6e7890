#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "support/eventually.h"

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;

// A listener whose accepted connections the test serves by hand.
class Far {
 public:
  Far() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    listen(fd_, 8);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~Far() { close(fd_); }
  int accepted() const { return accept(fd_, nullptr, nullptr); }

  std::uint16_t port = 0;

 private:
  int fd_;
};

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  return fd;
}

void say(int fd, const std::string& text) {
  ASSERT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

// What can be read at once; "end" after a FIN, "reset" after an RST, empty when there is nothing.
std::string hear(int fd) {
  char buffer[100];
  const ssize_t size = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (size == 0) return "end";
  if (size < 0) return errno == ECONNRESET ? "reset" : "";
  return std::string(buffer, static_cast<std::size_t>(size));
}

class TcpProxyTest : public ::testing::Test {
 protected:
  ~TcpProxyTest() override {
    close(near_);
    close(served_);
  }

  ::testing::AssertionResult hears(int fd, const std::string& expected) {
    std::string heard;
    if (eventually([&] { return !(heard = hear(fd)).empty(); }, milliseconds(5000), milliseconds(1)) &&
        heard == expected) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "heard '" << heard << "'";
  }

  Far far_;
  TcpProxy proxy_{far_.port};
  int near_ = connect_to(proxy_.port());
  int served_ = far_.accepted();
};

TEST_F(TcpProxyTest, ForwardsBothWaysAndPassesTheEndOn) {
  say(near_, "question");
  EXPECT_TRUE(hears(served_, "question"));
  say(served_, "answer");
  shutdown(served_, SHUT_WR);
  EXPECT_TRUE(hears(near_, "answer"));
  EXPECT_TRUE(hears(near_, "end"));
  say(near_, "still");
  EXPECT_TRUE(hears(served_, "still"));
  EXPECT_EQ(proxy_.bytes_forwarded(), 19U);
}

TEST_F(TcpProxyTest, CutsByReset) {
  EXPECT_EQ(proxy_.connections(), 1U);
  proxy_.cut(TcpProxy::Cut::kReset);
  EXPECT_EQ(proxy_.connections(), 0U);
  EXPECT_TRUE(hears(near_, "reset"));
  EXPECT_TRUE(hears(served_, "reset"));
}

TEST_F(TcpProxyTest, CutsByClose) {
  proxy_.cut(TcpProxy::Cut::kClose);
  EXPECT_TRUE(hears(near_, "end"));
  EXPECT_TRUE(hears(served_, "end"));
}

TEST_F(TcpProxyTest, DeliversNothingAsABlackholeAndEverythingAfterwards) {
  proxy_.set_blackhole(true);
  say(near_, "held");
  EXPECT_FALSE(eventually([&] { return !hear(served_).empty(); }, milliseconds(100)));
  proxy_.set_blackhole(false);
  EXPECT_TRUE(hears(served_, "held"));
}

TEST_F(TcpProxyTest, DelaysEachByte) {
  proxy_.set_delay(milliseconds(80));
  const auto start = std::chrono::steady_clock::now();
  say(near_, "late");
  EXPECT_TRUE(hears(served_, "late"));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(80));
}

TEST_F(TcpProxyTest, RefusesNewConnectionsAndKeepsPresentOnes) {
  proxy_.set_refusing(true);
  const int refused = connect_to(proxy_.port());
  EXPECT_TRUE(hears(refused, "reset"));
  close(refused);
  say(near_, "alive");
  EXPECT_TRUE(hears(served_, "alive"));
}

TEST_F(TcpProxyTest, LeadsNewConnectionsToAnotherTarget) {
  const Far other;
  proxy_.set_target(other.port);
  const int second = connect_to(proxy_.port());
  const int served = other.accepted();
  say(second, "moved");
  EXPECT_TRUE(hears(served, "moved"));
  close(second);
  close(served);
}

}  // namespace
}  // namespace spillway::testing
