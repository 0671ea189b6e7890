#include "http/getter.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <utility>

#include "http/beast.h"
#include "http/retry_after.h"
#include "http/tls.h"
#include "http/url.h"

namespace spillway::http {
namespace {

using Clock = std::chrono::steady_clock;

std::string words(const error_code& error, std::size_t body_bytes) {
  if (error == asio::error::connection_refused) return "connection refused";
  if (error == wire::error::body_limit) return fmt::format("the answer is longer than {} bytes", body_bytes);
  if (error == wire::error::end_of_stream || error == wire::error::partial_message) return "closed the connection";
  if (error == asio::ssl::error::stream_truncated) return "closed the connection without ending TLS (no close_notify)";
  if (error == asio::error::host_not_found || error == asio::error::host_not_found_try_again) return "unknown host";
  return error.message();
}

// One connection. Handlers hold it: an operation that was given up refers to it until the loop has told it so.
struct Line {
  explicit Line(const tcp::resolver::executor_type& loop) : socket(loop) {}

  beast::tcp_stream socket;
  std::optional<TlsStream> tls{};

  // Does something with what the bytes of HTTP go through.
  void with(auto operation) { tls ? operation(*tls) : operation(socket); }
};

}  // namespace

struct Getter::State : std::enable_shared_from_this<Getter::State> {
  State(asio::io_context& loop, GetterOptions given, Url parts)
      : options(std::move(given)), url(std::move(parts)), resolver(loop), deadline(loop) {
    request.method(wire::verb::get);
    request.target(url.target);
    request.version(11);
    request.set(wire::field::host, url.host);
    request.set(wire::field::accept, options.accept);
    request.set(wire::field::user_agent, "spillway");
  }

  GetterOptions options;
  Url url;
  std::optional<asio::ssl::context> trust;  // where TLS is spoken
  tcp::resolver resolver;
  asio::steady_timer deadline;
  std::shared_ptr<Line> line;  // none: not connected, nor on the way to be
  bool reused = false;
  // Of the request under way; handlers of an earlier one find another number and do nothing.
  std::uint64_t turn = 0;
  Clock::time_point began;
  Done done;
  wire::request<wire::empty_body> request;
  std::optional<wire::response_parser<wire::string_body>> parser;
  beast::flat_buffer buffer;

  // Wraps the rest of the chain: called only while the same request is under way.
  template <typename Next>
  auto then(Next next) {
    return [self = shared_from_this(), held = line, mine = turn, next](error_code error, auto&&...) {
      if (self->turn == mine && self->done) next(*self, error);
    };
  }

  void start(Done what) {
    done = std::move(what);
    ++turn;
    began = Clock::now();
    deadline.expires_after(options.timeout);
    deadline.async_wait(then([](State& self, error_code error) {
      if (!error) self.fail(fmt::format("no answer within {} ms", self.options.timeout.count()));
    }));
    reused = line != nullptr;
    reused ? send() : connect();
  }

  void connect() {
    line = std::make_shared<Line>(resolver.get_executor());
    error_code not_literal;
    const auto address = asio::ip::make_address(url.name, not_literal);
    if (!not_literal) {
      std::uint16_t port = 0;
      const char* end = url.port.data() + url.port.size();
      if (std::from_chars(url.port.data(), end, port).ptr != end) return fail("the URL has no valid port");
      const tcp::endpoint endpoint(address, port);
      return line->socket.async_connect(endpoint, then([](State& self, error_code error) { self.on_connect(error); }));
    }
    resolver.async_resolve(url.name, url.port,
                           [self = shared_from_this(), mine = turn](error_code error, const auto& found) {
                             if (self->turn != mine || !self->done) return;
                             if (error) return self->fail(words(error, 0));
                             self->line->socket.async_connect(
                                 found, self->then([](State& me, error_code failed) { me.on_connect(failed); }));
                           });
  }

  void on_connect(error_code error) {
    if (error) return fail(words(error, 0));
    line->socket.socket().set_option(tcp::no_delay(true), error);
    trust ? shake_hands() : send();
  }

  void shake_hands() {
    expect_host(line->tls.emplace(line->socket, *trust), url.name);
    line->tls->async_handshake(asio::ssl::stream_base::client, then([](State& self, error_code error) {
                                 error ? self.fail(handshake_words(*self.line->tls, error)) : self.send();
                               }));
  }

  void send() {
    parser.emplace();
    parser->body_limit(options.body_bytes);
    buffer.clear();
    line->with([this](auto& stream) {
      wire::async_write(stream, request,
                        then([](State& self, error_code error) { error ? self.on_answer(error) : self.receive(); }));
    });
  }

  void receive() {
    line->with([this](auto& stream) {
      wire::async_read(stream, buffer, *parser, then([](State& self, error_code error) { self.on_answer(error); }));
    });
  }

  void on_answer(error_code error) {
    if (error && reused && !parser->got_some()) {
      // The other side ended a connection that was idle: that says nothing about it.
      close();
      reused = false;
      return connect();
    }
    if (error) return fail(words(error, options.body_bytes));
    const auto& message = parser->get();
    GetterAnswer answer{
        .status = message.result_int(),
        .content_type = message[wire::field::content_type],
        .body = {},
        .retry_after_s = retry_after_seconds(message[wire::field::retry_after], message[wire::field::date]),
        .took = Clock::now() - began};
    const bool keep = message.keep_alive();
    answer.body = std::move(parser->get().body());
    if (!keep) close();
    finish(std::move(answer));
  }

  void fail(std::string why) {
    close();
    finish(base::fail(base::ErrorClass::kUnavailable, std::move(why)));
  }

  void close() {
    resolver.cancel();
    if (line) line->socket.close();
    line.reset();
  }

  void finish(base::Result<GetterAnswer> result) {
    deadline.cancel();
    const Done answer_to = std::exchange(done, nullptr);
    answer_to(std::move(result));
  }
};

Getter::Getter(std::shared_ptr<State> state) : state_(std::move(state)) {}

base::Result<std::unique_ptr<Getter>> Getter::open(asio::io_context& loop, GetterOptions options) {
  auto url = parse_url(options.url);
  if (!url) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("{}: expected http://host[:port]/path or https://…", options.url));
  }
  auto state = std::make_shared<State>(loop, std::move(options), std::move(*url));
  if (state->url.secure) {
    auto context = open_tls(state->options.ca);
    if (!context) return std::unexpected(context.error());
    state->trust = std::move(*context);
  }
  return std::unique_ptr<Getter>(new Getter(std::move(state)));
}

Getter::~Getter() {
  state_->done = nullptr;
  state_->deadline.cancel();
  state_->close();
}

void Getter::get(Done done) { state_->start(std::move(done)); }

}  // namespace spillway::http
