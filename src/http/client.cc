#include "http/client.h"

#include <boost/asio/connect.hpp>

#include "http/beast.h"
#include "http/url.h"

namespace spillway::http {
namespace {

class Call {
 public:
  Call(const ClientRequest& request, Url url) : request_(request), url_(std::move(url)), stream_(loop_) {}

  base::Result<ClientResponse> run() {
    stream_.expires_after(request_.timeout);
    connect();
    loop_.run_for(request_.timeout);
    if (!finished_) return base::fail(base::ErrorClass::kUnavailable, "no answer in time");
    if (error_ == beast::error::timeout) return base::fail(base::ErrorClass::kUnavailable, "no answer in time");
    if (error_) return base::fail(base::ErrorClass::kUnavailable, error_.message());
    const auto& message = parser_.get();
    return ClientResponse{message.result_int(), std::string(message[wire::field::content_type]), message.body()};
  }

 private:
  void connect() {
    error_code not_literal;
    const auto address = asio::ip::make_address(url_.name, not_literal);
    tcp::resolver resolver(loop_);
    error_code error;
    const auto found = not_literal
                           ? resolver.resolve(url_.name, url_.port, error)
                           : resolver.resolve(address.to_string(), url_.port,
                                              tcp::resolver::numeric_host | tcp::resolver::numeric_service, error);
    if (error) return finish(error);
    stream_.async_connect(found, [this](error_code failed, const tcp::endpoint&) { failed ? finish(failed) : send(); });
  }

  void send() {
    message_.method_string(request_.method);
    message_.target(url_.target);
    message_.version(11);
    message_.set(wire::field::host, url_.host);
    message_.set(wire::field::connection, "close");
    for (const auto& [name, value] : request_.headers) message_.set(name, value);
    message_.body() = request_.body;
    message_.prepare_payload();
    wire::async_write(stream_, message_,
                      [this](error_code failed, std::size_t) { failed ? finish(failed) : receive(); });
  }

  void receive() {
    parser_.body_limit(16 << 20);
    parser_.skip(request_.method == "HEAD");
    wire::async_read(stream_, buffer_, parser_, [this](error_code failed, std::size_t) { finish(failed); });
  }

  void finish(error_code error) {
    error_ = error;
    finished_ = true;
  }

  const ClientRequest& request_;
  Url url_;
  asio::io_context loop_;
  beast::tcp_stream stream_;
  wire::request<wire::string_body> message_;
  wire::response_parser<wire::string_body> parser_;
  beast::flat_buffer buffer_;
  error_code error_;
  bool finished_ = false;
};

}  // namespace

base::Result<ClientResponse> fetch(const ClientRequest& request) {
  auto url = parse_url(request.url);
  if (!url || url->secure) {
    return base::fail(base::ErrorClass::kMisconfigured, "expected a URL like http://127.0.0.1:8787/path");
  }
  return Call(request, std::move(*url)).run();
}

base::Result<ClientResponse> get(const std::string& url, std::chrono::milliseconds timeout) {
  return fetch({.url = url, .timeout = timeout});
}

}  // namespace spillway::http
