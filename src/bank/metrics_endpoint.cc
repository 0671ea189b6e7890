#include "bank/metrics_endpoint.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <stdexcept>

#include "http/server.h"

namespace spillway::bank {

namespace {
using tcp = boost::asio::ip::tcp;
}

// A socket that is bound and does not listen: connections are refused, and nobody else gets the port.
struct MetricsEndpoint::Keeper {
  Keeper(boost::asio::io_context& loop, std::uint16_t port) : socket(loop, tcp::v4()) {
    socket.set_option(tcp::socket::reuse_address(true));
    socket.bind({boost::asio::ip::address_v4::loopback(), port});
  }
  tcp::socket socket;
};

MetricsEndpoint::MetricsEndpoint(boost::asio::io_context& loop, const MetricsPage& page) : loop_(loop), page_(page) {
  listen();
}

MetricsEndpoint::~MetricsEndpoint() = default;

void MetricsEndpoint::listen() {
  http::ServerOptions options;
  options.port = port_;
  auto server = http::Server::listen(loop_, options);
  if (!server) throw std::runtime_error(server.error().message);
  server_ = std::move(*server);
  port_ = server_->port();
  server_->route("GET", "/metrics", [this](const http::Request&, const http::Reply& reply) {
    const bool html = fault_ == EndpointFault::kHtml;
    reply({.status = 200,
           .content_type = html ? "text/html; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8",
           .body = body()});
  });
}

std::string MetricsEndpoint::body() const {
  switch (fault_) {
    case EndpointFault::kFrozen: return frozen_;
    case EndpointFault::kNotANumber: return with_values_not_a_number(page_.text());
    case EndpointFault::kHtml:
      return "<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n";
    case EndpointFault::kNone:
    case EndpointFault::kRefuses: break;
  }
  return page_.text();
}

void MetricsEndpoint::set_fault(EndpointFault fault) {
  if (fault == EndpointFault::kFrozen && fault_ != EndpointFault::kFrozen) frozen_ = page_.text();
  fault_ = fault;
  if (fault == EndpointFault::kRefuses && server_) {
    server_.reset();
    keeper_ = std::make_unique<Keeper>(loop_, port_);
  } else if (fault != EndpointFault::kRefuses && !server_) {
    keeper_.reset();
    listen();
  }
}

std::string MetricsEndpoint::url() const { return fmt::format("http://127.0.0.1:{}/metrics", port_); }

}  // namespace spillway::bank
