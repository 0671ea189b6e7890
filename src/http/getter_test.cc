#include "http/getter.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "http/server.h"
#include "http/testing.h"

namespace spillway::http {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

class GetterTest : public testing::Test {
 protected:
  std::unique_ptr<Getter> open(std::uint16_t port, std::chrono::milliseconds timeout = 5s, std::size_t body = 8 << 20) {
    auto opened = Getter::open(
        loop_, {.url = "http://127.0.0.1:" + std::to_string(port) + "/m", .timeout = timeout, .body_bytes = body});
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }

  base::Result<GetterAnswer> get(Getter& getter) { return ask(loop_, getter); }

  asio::io_context loop_;
};

TEST_F(GetterTest, AsksAgainOnTheSameConnection) {
  auto server = Server::listen(loop_, {.port = 0});
  ASSERT_TRUE(server);
  int asked = 0;
  (*server)->route("GET", "/m", [&](const Request&, const Reply& reply) {
    reply(text_response(200, "answer " + std::to_string(++asked)));
  });
  const auto getter = open((*server)->port());
  EXPECT_EQ(get(*getter)->body, "answer 1");
  EXPECT_EQ(get(*getter)->body, "answer 2");
  EXPECT_EQ((*server)->clients(), 1u);
}

// A server by hand: one answer a connection, then it hangs up without having said so.
class Rude {
 public:
  explicit Rude(std::vector<std::string> answers) : acceptor_(loop_, {asio::ip::address_v4::loopback(), 0}) {
    port_ = acceptor_.local_endpoint().port();
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers) {
        tcp::socket socket = acceptor_.accept();
        std::string request;
        asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n");
        asio::write(socket, asio::buffer(answer));
      }
    });
  }
  ~Rude() { thread_.join(); }
  std::uint16_t port() const { return port_; }

 private:
  asio::io_context loop_;
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(GetterTest, AConnectionThatWasClosedMeanwhileIsMadeAnew) {
  const Rude server({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"});
  const auto getter = open(server.port());
  EXPECT_EQ(get(*getter)->body, "a");
  EXPECT_EQ(get(*getter)->body, "b");
}

TEST_F(GetterTest, ReadsStatusAndRetryAfter) {
  const Rude server({"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"});
  const auto getter = open(server.port());
  const auto answer = get(*getter);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503u);
  EXPECT_EQ(answer->retry_after_s, 7);
}

TEST_F(GetterTest, SaysWhyThereIsNoAnswer) {
  {
    const Rude cut({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"});
    EXPECT_EQ(get(*open(cut.port())).error().message, "closed the connection");
  }
  const Rude long_winded({"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901"});
  EXPECT_EQ(get(*open(long_winded.port(), 5s, 10)).error().message, "the answer is longer than 10 bytes");
}

TEST_F(GetterTest, ARefusedConnectionAndASilentServerAreUnavailable) {
  tcp::acceptor silent(loop_, {asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = silent.local_endpoint().port();
  EXPECT_EQ(get(*open(port, 50ms)).error().message, "no answer within 50 ms");
  silent.close();
  EXPECT_EQ(get(*open(port)).error().message, "connection refused");
}

TEST_F(GetterTest, IsDroppedWithARequestUnderWay) {
  tcp::acceptor silent(loop_, {asio::ip::address_v4::loopback(), 0});
  bool called = false;
  {
    const auto getter = open(silent.local_endpoint().port());
    getter->get([&](const base::Result<GetterAnswer>&) { called = true; });
    loop_.poll();
  }
  loop_.restart();
  loop_.run();
  EXPECT_FALSE(called);
}

TEST(Getter, RefusesWhatItCannotReach) {
  asio::io_context loop;
  const auto opened = Getter::open(loop, {.url = "ftp://bank/metrics"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().error_class, base::ErrorClass::kMisconfigured);
}

}  // namespace
}  // namespace spillway::http
