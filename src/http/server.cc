#include "http/server.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <set>

#include "http/admission.h"
#include "http/beast.h"

namespace spillway::http {
namespace {

std::string shown(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

base::Result<tcp::endpoint> endpoint_of(asio::io_context& loop, const ServerOptions& options) {
  error_code error;
  const auto address = asio::ip::make_address(options.host, error);
  if (!error) return tcp::endpoint(address, options.port);
  tcp::resolver resolver(loop);
  const auto found = resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("http.listen: the name {} has no address here ({})", options.host, error.message()));
  }
  return found.begin()->endpoint();
}

base::Error listen_error(const ServerOptions& options, const error_code& error) {
  const std::string at = shown(options.host, options.port);
  std::string message;
  if (error == asio::error::address_in_use) {
    message = fmt::format(
        "http.listen: {} is in use by another process; stop it (`ss -ltnp 'sport = :{}'` names it) or choose another "
        "port",
        at, options.port);
  } else if (error == asio::error::access_denied) {
    message = fmt::format("http.listen: no permission to listen on {}; ports below 1024 need a privilege", at);
  } else if (error == boost::system::errc::address_not_available) {
    message = fmt::format("http.listen: {} is not an address of this machine", at);
  } else {
    message = fmt::format("http.listen: cannot listen on {}: {}", at, error.message());
  }
  return {base::ErrorClass::kMisconfigured, std::move(message)};
}

std::string field(const wire::request<wire::string_body>& message, wire::field name) {
  return std::string(message[name]);
}

}  // namespace

struct Server::State : std::enable_shared_from_this<Server::State> {
  class Session;

  State(asio::io_context& loop, ServerOptions given)
      : options(std::move(given)), admission(options.host, options.token), acceptor(loop), breather(loop) {}

  void accept();
  void close();
  void handle(const Request& request, Reply reply) const;

  ServerOptions options;
  Admission admission;
  tcp::acceptor acceptor;
  asio::steady_timer breather;                                   // out of descriptors: not again at once
  std::map<std::string, std::map<std::string, Handler>> routes;  // path, method
  std::set<std::shared_ptr<Session>> sessions;
};

// One connection; lives as long as an operation of it or a reply is out.
class Server::State::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<State> server) : stream_(std::move(socket)), server_(std::move(server)) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_->options.header_bytes));
    parser_->body_limit(server_->options.body_bytes);
    stream_.expires_after(server_->options.patience);
    wire::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
  }

  void turn_away() {
    keep_alive_ = false;
    write(error_response(503, "too many clients; try again"));
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    server_->sessions.erase(shared_from_this());
  }

 private:
  struct Pending {
    std::shared_ptr<Session> session;
    bool answered = false;
    ~Pending() {
      if (!answered) session->write(error_response(503, "this was not answered; try again"));
    }
  };

  void on_read(error_code error) {
    if (error == wire::error::body_limit) return refuse(413, "the body is too large");
    if (error == wire::error::header_limit) return refuse(431, "the headers are too large");
    if (error.category() == wire::make_error_code(wire::error::bad_method).category() &&
        error != wire::error::end_of_stream && error != wire::error::partial_message) {
      return refuse(400, "this is not HTTP/1.1: " + error.message());
    }
    if (error) return close();

    const auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    head_ = message.method() == wire::verb::head;
    Request request{.method = std::string(message.method_string()),
                    .path = {},
                    .query = {},
                    .host = field(message, wire::field::host),
                    .origin = field(message, wire::field::origin),
                    .content_type = field(message, wire::field::content_type),
                    .authorization = field(message, wire::field::authorization),
                    .accept = field(message, wire::field::accept),
                    .body = message.body()};
    const std::string_view target(message.target().data(), message.target().size());
    if (!split_target(target, request)) return write(error_response(400, "the target is not a path"));
    auto pending = std::make_shared<Pending>(shared_from_this());
    server_->handle(request, [pending](Response response) {
      if (std::exchange(pending->answered, true)) return;
      pending->session->write(std::move(response));
    });
  }

  void refuse(unsigned status, const std::string& why) {
    keep_alive_ = false;
    write(error_response(status, why));
  }

  void write(Response response) {
    if (!stream_.socket().is_open()) return;
    message_.emplace(static_cast<wire::status>(response.status), 11);
    message_->set(wire::field::server, "spillway");
    message_->set(wire::field::content_type, response.content_type);
    message_->set(wire::field::cache_control, "no-store");
    message_->set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'");
    message_->set("X-Content-Type-Options", "nosniff");
    message_->set("Referrer-Policy", "no-referrer");
    if (!response.allow.empty()) message_->set(wire::field::allow, response.allow);
    if (response.challenge_bearer) message_->set(wire::field::www_authenticate, "Bearer");
    message_->keep_alive(keep_alive_);
    message_->content_length(response.body.size());
    if (!head_) message_->body() = std::move(response.body);
    stream_.expires_after(server_->options.patience);
    wire::async_write(stream_, *message_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error || !self->keep_alive_) return self->close();
      self->read();
    });
  }

  beast::tcp_stream stream_;
  std::shared_ptr<State> server_;
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  std::optional<wire::response<wire::string_body>> message_;
  bool keep_alive_ = false;
  bool head_ = false;
};

void Server::State::accept() {
  acceptor.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !self->acceptor.is_open()) return;
    if (error) {
      self->breather.expires_after(std::chrono::milliseconds(200));
      self->breather.async_wait([self](error_code cancelled) {
        if (!cancelled) self->accept();
      });
      return;
    }
    const bool room = self->sessions.size() < self->options.clients;
    // A few more may be told that they are too many; the rest is cut off.
    if (self->sessions.size() < self->options.clients + 8) {
      auto session = std::make_shared<Session>(std::move(socket), self);
      self->sessions.insert(session);
      room ? session->read() : session->turn_away();
    }
    self->accept();
  });
}

void Server::State::close() {
  error_code ignored;
  acceptor.close(ignored);
  breather.cancel();
  for (const auto& session : std::exchange(sessions, {})) session->close();
}

void Server::State::handle(const Request& request, Reply reply) const {
  if (auto refusal = admission.refuse(request)) return reply(std::move(*refusal));
  const auto path = routes.find(request.path);
  if (path == routes.end()) return reply(error_response(404, "there is nothing at this path"));
  const auto method = path->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (method == path->second.end()) {
    Response refusal = error_response(405, "this path does not take " + request.method);
    for (const auto& [known, _] : path->second) refusal.allow += (refusal.allow.empty() ? "" : ", ") + known;
    return reply(std::move(refusal));
  }
  method->second(request, std::move(reply));
}

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() { state_->close(); }

base::Result<std::unique_ptr<Server>> Server::listen(asio::io_context& loop, const ServerOptions& options) {
  if (!is_loopback(options.host) && options.token.empty() && !options.insecure) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("http.listen: {} is open to the network; set http.token, listen on 127.0.0.1, or say "
                                  "http.insecure: true",
                                  shown(options.host, options.port)));
  }
  const auto endpoint = endpoint_of(loop, options);
  if (!endpoint) return std::unexpected(endpoint.error());
  auto state = std::make_shared<State>(loop, options);
  error_code error;
  state->acceptor.open(endpoint->protocol(), error);
  if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) state->acceptor.bind(*endpoint, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return std::unexpected(listen_error(options, error));
  state->accept();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

void Server::route(const std::string& method, const std::string& path, Handler handler) {
  state_->routes[path].insert_or_assign(method, std::move(handler));
}

std::uint16_t Server::port() const {
  error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

std::string Server::address() const { return shown(state_->options.host, port()); }

std::size_t Server::clients() const { return state_->sessions.size(); }

}  // namespace spillway::http
