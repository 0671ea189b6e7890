#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "http/getter.h"
#include "http/testing.h"
#include "http/testing_certificates.h"
#include "http/trust.h"

namespace spillway::http {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

std::string answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A server by hand. Each visit is the answers that one connection gets, one for each request; then the socket is closed
// without a word of TLS. A handshake that fails ends its visit.
class TlsServer {
 public:
  TlsServer(const Identity& identity, std::vector<std::vector<std::string>> visits)
      : acceptor_(loop_, {asio::ip::address_v4::loopback(), 0}), context_(asio::ssl::context::tls_server) {
    port_ = std::to_string(acceptor_.local_endpoint().port());
    context_.use_certificate(asio::buffer(identity.pem), asio::ssl::context::pem);
    context_.use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem);
    thread_ = std::thread([this, visits = std::move(visits)] {
      for (const auto& answers : visits) serve(answers);
    });
  }
  ~TlsServer() { done(); }

  std::string url(const std::string& host = "127.0.0.1") const { return "https://" + host + ":" + port_ + "/m"; }
  // After the last visit: the name that the client asked for (SNI), empty where none.
  std::string asked_for() {
    done();
    return asked_for_;
  }

 private:
  void serve(const std::vector<std::string>& answers) {
    asio::ssl::stream<tcp::socket> stream(acceptor_.accept(), context_);
    error_code error;
    stream.handshake(asio::ssl::stream_base::server, error);
    const char* name = SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name);
    asked_for_ = name != nullptr ? name : "";
    for (const std::string& text : answers) {
      if (error) return;
      std::string request;
      asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n", error);
      if (!error) asio::write(stream, asio::buffer(text), error);
    }
  }
  void done() {
    if (thread_.joinable()) thread_.join();
  }

  asio::io_context loop_;
  tcp::acceptor acceptor_;
  asio::ssl::context context_;
  std::string port_;
  std::string asked_for_;
  std::thread thread_;
};

class GetterTlsTest : public testing::Test {
 protected:
  std::unique_ptr<Getter> open(const std::string& url, const std::string& ca = {},
                               std::chrono::milliseconds timeout = 10s) {
    auto opened = Getter::open(loop_, {.url = url, .ca = ca, .timeout = timeout});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  std::string body(Getter& getter) {
    const auto got = ask(loop_, getter);
    return got ? got->body : "none: " + got.error().message;
  }
  // Of one connection to a server that is `identity`, where `trusted` is in the file given as `ca`.
  std::string once(const Identity& identity, const Identity& trusted, const std::string& host = "127.0.0.1") {
    const TlsServer server(identity, {{answer("a")}});
    const TextFile ca(trusted.pem);
    return body(*open(server.url(host), ca.path()));
  }

  asio::io_context loop_;
};

TEST_F(GetterTlsTest, AsksAgainOnTheSameConnection) {
  const Identity identity = make_identity();
  const TextFile ca(identity.pem);
  const TlsServer server(identity, {{answer("a"), answer("b")}});
  const auto getter = open(server.url(), ca.path());
  EXPECT_EQ(body(*getter), "a");
  EXPECT_EQ(body(*getter), "b");
}

TEST_F(GetterTlsTest, AConnectionThatWasCutMeanwhileIsMadeAnew) {
  const Identity identity = make_identity();
  const TextFile ca(identity.pem);
  const TlsServer server(identity, {{answer("a")}, {answer("b")}});
  const auto getter = open(server.url(), ca.path());
  EXPECT_EQ(body(*getter), "a");
  EXPECT_EQ(body(*getter), "b");
}

TEST_F(GetterTlsTest, NamesTheHostAndChecksTheCertificateForIt) {
  const Identity identity = make_identity({.names = "DNS:localhost"});
  const TextFile ca(identity.pem);
  TlsServer server(identity, {{answer("a")}});
  EXPECT_EQ(body(*open(server.url("localhost"), ca.path())), "a");
  EXPECT_EQ(server.asked_for(), "localhost");
}

TEST_F(GetterTlsTest, TrustsWhatTheFileHolds) {
  const Identity authority = make_identity({.names = "DNS:authority"});
  const Identity server = make_identity({.issuer = &authority});
  EXPECT_EQ(once(server, authority), "a");
  EXPECT_EQ(once(server, server), "a");
}

TEST_F(GetterTlsTest, RefusesACertificateThatItDoesNotTrust) {
  const Identity authority = make_identity();
  const Identity other = make_identity({.names = "DNS:other"});
  const TlsServer server(authority, {{answer("a")}});
  EXPECT_EQ(body(*open(server.url())), "none: certificate not trusted (self-signed certificate)");
  EXPECT_EQ(once(make_identity({.issuer = &authority}), other).substr(0, 30), "none: certificate not trusted ");
}

TEST_F(GetterTlsTest, RefusesACertificateForAnotherHost) {
  const Identity bank = make_identity({.names = "DNS:bank.example,IP:127.0.0.2"});
  EXPECT_EQ(once(bank, bank), "none: certificate is for another host");
  EXPECT_EQ(once(bank, bank, "localhost"), "none: certificate is for another host");
}

TEST_F(GetterTlsTest, RefusesAnExpiredCertificate) {
  const Identity old = make_identity({.seconds_left = -60});
  EXPECT_EQ(once(old, old), "none: certificate not trusted (certificate has expired)");
}

TEST_F(GetterTlsTest, SaysThatTheOtherSideSpeaksNoTls) {
  tcp::acceptor acceptor(loop_, {asio::ip::address_v4::loopback(), 0});
  const std::string url = "https://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  std::thread plain([&] {
    asio::io_context own;
    for (const std::string text : {"HTTP/1.1 400 Bad Request\r\n\r\n", ""}) {
      tcp::socket socket = acceptor.accept(own);
      std::array<char, 5> start{};
      asio::read(socket, asio::buffer(start));
      asio::write(socket, asio::buffer(text));
      socket.shutdown(tcp::socket::shutdown_send);
      error_code ended;
      std::string rest;
      asio::read(socket, asio::dynamic_buffer(rest), ended);
    }
  });
  const auto getter = open(url);
  EXPECT_EQ(body(*getter), "none: TLS handshake failed: the other side does not speak TLS");
  EXPECT_EQ(body(*getter), "none: TLS handshake failed: the other side closed the connection");
  plain.join();
}

TEST_F(GetterTlsTest, TheTimeoutHoldsDuringTheHandshake) {
  const tcp::acceptor silent(loop_, {asio::ip::address_v4::loopback(), 0});
  const auto getter = open("https://127.0.0.1:" + std::to_string(silent.local_endpoint().port()), {}, 50ms);
  EXPECT_EQ(body(*getter), "none: no answer within 50 ms");
  EXPECT_EQ(body(*getter), "none: no answer within 50 ms");
}

TEST_F(GetterTlsTest, IsDroppedDuringTheHandshake) {
  tcp::acceptor silent(loop_, {asio::ip::address_v4::loopback(), 0});
  bool called = false;
  {
    const auto getter = open("https://127.0.0.1:" + std::to_string(silent.local_endpoint().port()));
    getter->get([&](const base::Result<GetterAnswer>&) { called = true; });
    std::array<char, 5> start{};
    tcp::socket socket(loop_);
    bool greeted = false;
    silent.async_accept(socket, [&](error_code) {
      asio::async_read(socket, asio::buffer(start), [&](error_code, std::size_t) { greeted = true; });
    });
    while (!greeted) loop_.run_one();
  }
  loop_.restart();
  loop_.run();
  EXPECT_FALSE(called);
}

// Nobody can tell how much of it there was to be.
TEST_F(GetterTlsTest, AnAnswerWithoutLengthMustBeEndedByTls) {
  const Identity identity = make_identity();
  const TextFile ca(identity.pem);
  const TlsServer server(identity, {{"HTTP/1.1 200 OK\r\n\r\nabc"}});
  EXPECT_EQ(body(*open(server.url(), ca.path())), "none: closed the connection without ending TLS (no close_notify)");
}

TEST(CheckTrust, SaysWhyAFileCannotBeUsed) {
  const Identity identity = make_identity();
  EXPECT_TRUE(check_trust(TextFile(identity.pem).path()));
  const TextFile no_certificate(identity.key_pem);
  EXPECT_EQ(check_trust(no_certificate.path()).error().message,
            no_certificate.path() + ": holds no certificates in PEM form");
  EXPECT_EQ(check_trust("/nowhere/ca.pem").error().message, "/nowhere/ca.pem: No such file or directory");
  EXPECT_FALSE(check_trust("/tmp"));
}

TEST(CheckTrust, AGetterOfAFileThatCannotBeUsedIsNotOpened) {
  asio::io_context loop;
  const auto opened = Getter::open(loop, {.url = "https://bank/metrics", .ca = "/nowhere/ca.pem"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().error_class, base::ErrorClass::kMisconfigured);
}

}  // namespace
}  // namespace spillway::http
