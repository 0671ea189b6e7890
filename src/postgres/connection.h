// One connection to PostgreSQL that never hangs and comes back by itself.
//
// Only what a transaction pooler passes on is used: simple queries and unnamed extended ones, no session state, no
// prepared statements, no start-up options.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "postgres/answer.h"

struct pg_conn;

namespace spillway::postgres {

struct ConnectOptions {
  std::string uri;  // or libpq keywords
  // Longest silence of the server within one call; a call whose bytes keep arriving goes on.
  std::chrono::milliseconds time_limit = std::chrono::seconds(5);
  std::string application_name = "spillway";
};

// "app@127.0.0.1:5432/app": without secrets. Empty where the string cannot be parsed.
std::string describe(const std::string& uri);

// kMisconfigured where libpq does not understand the string.
base::Status check_uri(const std::string& uri);

using Value = std::optional<std::string>;

// One message of a COPY … TO STDOUT, valid during the call. False stops it at the price of the connection.
using CopyTaker = std::function<bool(std::string_view)>;

// Connects at first use and again after every failure that ends a connection (kUnavailable). Time limits are measured
// on the client, so that a server which vanished cannot hold a call. For one thread at a time.
class Connection {
 public:
  explicit Connection(ConnectOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One statement with parameters $1, $2 …
  base::Result<Answer> ask(const std::string& sql, std::span<const Value> values = {});

  // Several statements in one round trip; the answers of those that return rows. A transaction that a failing
  // statement leaves behind is rolled back.
  base::Result<std::vector<Answer>> script(const std::string& sql, const CopyTaker& taker = {});

  // Waits for a NOTIFY on a channel that this connection listens to: its payload, or empty when the time is over.
  base::Result<std::optional<std::string>> notification(std::chrono::milliseconds limit);

  // What the server said of the last statement that it refused, for whom class and message of the error are too little.
  struct Refusal {
    std::string sqlstate;
    std::string message;
  };
  // Empty where the last call did not fail, or failed because of the connection.
  const std::optional<Refusal>& refusal() const { return refusal_; }

  base::Status connect();
  bool connected() const { return handle_ != nullptr; }
  void close() { handle_.reset(); }

 private:
  struct Finish {
    void operator()(pg_conn* handle) const;
  };
  using Clock = std::chrono::steady_clock;

  base::Result<Answer> sent(bool queued);
  base::Status collect(std::vector<Answer>& answers, const CopyTaker& taker);
  base::Status drain_copy(const CopyTaker& taker);
  base::Status until_ready(Clock::time_point& deadline);
  base::Status wait(bool writable_too, Clock::time_point deadline);
  base::Status leave_transaction();
  base::Error lost();
  base::Error failed(pg_result* result);
  Clock::time_point deadline() const { return Clock::now() + options_.time_limit; }

  ConnectOptions options_;
  std::string place_;
  bool sql_ascii_ = false;
  std::optional<Refusal> refusal_;
  std::unique_ptr<pg_conn, Finish> handle_;
};

}  // namespace spillway::postgres
