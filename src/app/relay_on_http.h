// For tests: a relay's HTTP that answers one path with a fixed text.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "http/server.h"
#include "runtime/loop.h"

namespace spillway::app {

class RelayOnHttp {
 public:
  RelayOnHttp(const std::string& path, std::string body) {
    server_ = std::move(http::Server::listen(loop_.context(), {.port = 0}).value());
    server_->route("GET", path, [body = std::move(body)](const http::Request&, const http::Reply& reply) {
      reply(http::json_response(200, body));
    });
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RelayOnHttp() {
    loop_.post([this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  runtime::Loop loop_;
  std::unique_ptr<http::Server> server_;
  std::string address_;
  std::thread thread_;
};

}  // namespace spillway::app
