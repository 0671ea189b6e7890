#include "http/server.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <thread>

#include "http/client.h"

namespace spillway::http {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// A server on a free port, its loop on a thread of its own.
class Served {
 public:
  explicit Served(ServerOptions options = {}) : work_(loop_.get_executor()) {
    options.port = 0;
    auto listening = Server::listen(loop_, options);
    if (!listening) throw std::runtime_error(listening.error().message);
    server_ = std::move(*listening);
    server_->route("GET", "/hello",
                   [](const Request& r, const Reply& reply) { reply(text_response(200, "hi " + r.query_value("n"))); });
    server_->route("POST", "/change", [](const Request& r, const Reply& reply) { reply(json_response(200, r.body)); });
    server_->route("GET", "/later", [this](const Request&, const Reply& reply) {
      asio::post(loop_, [reply] { reply(text_response(200, "late")); });
    });
    server_->route("GET", "/forgotten", [](const Request&, const Reply&) {});
  }
  ~Served() { stop(); }

  void start() {
    thread_ = std::thread([this] { loop_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    asio::post(loop_, [this] {
      server_.reset();
      work_.reset();
    });
    thread_.join();
  }

  Server& server() { return *server_; }
  std::uint16_t port() const { return server_->port(); }
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port()) + path; }
  std::size_t clients() {
    std::promise<std::size_t> count;
    asio::post(loop_, [&] { count.set_value(server_->clients()); });
    return count.get_future().get();
  }

 private:
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() { served_.start(); }
  Served served_;
};

TEST_F(ServerTest, AnswersOnItsPaths) {
  const auto answer = get(served_.url("/hello?n=7"), 5s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200u);
  EXPECT_EQ(answer->body, "hi 7");
  EXPECT_EQ(get(served_.url("/nothing"), 5s)->status, 404u);
  EXPECT_EQ(get(served_.url("/change"), 5s)->status, 405u);
}

TEST_F(ServerTest, AnswersLater) { EXPECT_EQ(get(served_.url("/later"), 5s)->body, "late"); }

TEST_F(ServerTest, AReplyThatIsDroppedStillAnswers) { EXPECT_EQ(get(served_.url("/forgotten"), 5s)->status, 503u); }

TEST_F(ServerTest, HeadHasNoBody) {
  const auto answer = fetch({.method = "HEAD", .url = served_.url("/hello")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200u);
  EXPECT_EQ(answer->body, "");
}

TEST_F(ServerTest, TakesAChangeAsJson) {
  const auto answer = fetch({.method = "POST",
                             .url = served_.url("/change"),
                             .headers = {{"Content-Type", "application/json"}},
                             .body = "{\"a\":1}"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "{\"a\":1}");
  EXPECT_EQ(fetch({.method = "POST", .url = served_.url("/change")})->status, 415u);
}

TEST_F(ServerTest, RefusesAnotherOrigin) {
  EXPECT_EQ(fetch({.url = served_.url("/hello"), .headers = {{"Origin", "http://evil.example"}}})->status, 403u);
}

TEST_F(ServerTest, LimitsTheBody) {
  const auto answer = fetch({.method = "POST",
                             .url = served_.url("/change"),
                             .headers = {{"Content-Type", "application/json"}},
                             .body = std::string(65 * 1024, ' ')});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413u);
}

TEST_F(ServerTest, AnswersNonsenseWithBadRequest) {
  asio::io_context loop;
  tcp::socket socket(loop);
  socket.connect({asio::ip::address_v4::loopback(), served_.port()});
  asio::write(socket, asio::buffer(std::string("\x16\x03\x01 nonsense\r\n\r\n")));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
}

TEST_F(ServerTest, SendsTheSafetyHeadersAndKeepsTheConnection) {
  asio::io_context loop;
  tcp::socket socket(loop);
  socket.connect({asio::ip::address_v4::loopback(), served_.port()});
  const std::string ask = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string last = "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  asio::write(socket, asio::buffer(ask + last));
  std::string answers;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answers), end);
  EXPECT_NE(answers.find("Content-Security-Policy: default-src 'self'"), std::string::npos);
  EXPECT_NE(answers.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_NE(answers.find("hi ", answers.find("hi ") + 1), std::string::npos) << "two answers on one connection";
}

TEST(Server, CutsOffAClientThatStopsHalfway) {
  Served served(ServerOptions{.patience = 100ms});
  served.start();
  asio::io_context loop;
  tcp::socket socket(loop);
  socket.connect({asio::ip::address_v4::loopback(), served.port()});
  asio::write(socket, asio::buffer(std::string("GET /hello HTTP/1.1\r\nHost: loc")));
  char byte = 0;
  boost::system::error_code end;
  asio::read(socket, asio::buffer(&byte, 1), end);
  EXPECT_TRUE(end);
  EXPECT_EQ(served.clients(), 0u);
}

TEST(Server, TurnsAwayMoreClientsThanItsLimit) {
  Served served(ServerOptions{.clients = 2});
  served.start();
  asio::io_context loop;
  std::vector<tcp::socket> idle;
  for (int i = 0; i < 2; ++i) idle.emplace_back(loop).connect({asio::ip::address_v4::loopback(), served.port()});
  while (served.clients() < 2) std::this_thread::yield();
  EXPECT_EQ(get(served.url("/hello"), 5s)->status, 503u);
  idle.clear();
  while (served.clients() > 0) std::this_thread::yield();
  EXPECT_EQ(get(served.url("/hello"), 5s)->status, 200u);
}

TEST(Server, SaysWhichAddressIsInUse) {
  Served served;
  asio::io_context loop;
  const auto second = Server::listen(loop, {.port = served.port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_TRUE(second.error().message.starts_with("http.listen: 127.0.0.1:" + std::to_string(served.port()) +
                                                 " is in use by another process"))
      << second.error().message;
}

TEST(Server, DoesNotOpenItselfToTheNetworkUnasked) {
  asio::io_context loop;
  EXPECT_FALSE(Server::listen(loop, {.host = "0.0.0.0", .port = 0}));
  EXPECT_TRUE(Server::listen(loop, {.host = "0.0.0.0", .port = 0, .token = "t"}));
  EXPECT_TRUE(Server::listen(loop, {.host = "0.0.0.0", .port = 0, .insecure = true}));
}

TEST(Server, EndsWithRequestsStillOpen) {
  Served served;
  std::promise<void> asked;
  Reply kept;
  served.server().route("GET", "/kept", [&](const Request&, Reply reply) {
    kept = std::move(reply);
    asked.set_value();
  });
  served.start();
  auto answer = std::async(std::launch::async, [&] { return get(served.url("/kept"), 5s); });
  asked.get_future().wait();
  served.stop();
  EXPECT_FALSE(answer.get());
  kept(text_response(200, "too late"));
}

TEST(Client, SaysWhyNobodyAnswered) {
  std::uint16_t port = 0;
  { port = Served().port(); }
  const auto answer = get("http://127.0.0.1:" + std::to_string(port) + "/", 2s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, base::ErrorClass::kUnavailable);
  EXPECT_EQ(answer.error().message, "Connection refused");
}

TEST(Client, GivesUpInTime) {
  Served served;  // accepts, but its loop does not turn
  const auto answer = get(served.url("/hello"), 100ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "no answer in time");
}

TEST(Client, RefusesWhatIsNoUrl) {
  for (const char* url : {"", "127.0.0.1:80", "https://x/", "http://", "http://[::1/", "http://a@b/"}) {
    const auto answer = get(url, 1s);
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().error_class, base::ErrorClass::kMisconfigured);
  }
}

}  // namespace
}  // namespace spillway::http
