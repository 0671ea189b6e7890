#include "postgres/connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "postgres/failure.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;
using Keywords = std::map<std::string, std::string>;

struct FreeKeywords {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

base::Result<Keywords> parse(const std::string& uri) {
  char* complaint = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeKeywords> options(PQconninfoParse(uri.c_str(), &complaint));
  if (!options) {
    std::string message = complaint != nullptr ? complaint : "out of memory";
    PQfreemem(complaint);
    std::erase(message, '\n');
    return base::fail(ErrorClass::kMisconfigured, fmt::format("outbox.store is no connection string: {}", message));
  }
  Keywords keywords;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) keywords[option->keyword] = option->val;
  }
  return keywords;
}

// What the user set stays; silence gets values under which a dead server is noticed.
void complete(Keywords& keywords, const ConnectOptions& options, bool sql_ascii) {
  const auto hosts = 1 + std::ranges::count(keywords["host"].empty() ? keywords["hostaddr"] : keywords["host"], ',');
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options.time_limit / hosts).count();
  keywords.try_emplace("application_name", options.application_name);
  keywords.try_emplace("connect_timeout", std::to_string(std::max<std::int64_t>(2, seconds)));
  keywords.try_emplace("tcp_user_timeout", std::to_string(options.time_limit.count()));
  keywords.try_emplace("keepalives_idle", "5");
  keywords.try_emplace("keepalives_interval", "2");
  keywords.try_emplace("keepalives_count", "3");
  if (hosts > 1) keywords.try_emplace("target_session_attrs", "read-write");
  keywords["client_encoding"] = sql_ascii ? "SQL_ASCII" : "UTF8";
}

PGconn* open(const Keywords& keywords) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : keywords) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectdbParams(names.data(), values.data(), 0);
}

}  // namespace

std::string describe(const std::string& uri) {
  auto keywords = parse(uri);
  if (!keywords) return {};
  const auto get = [&](const char* name, const char* otherwise) {
    const auto found = keywords->find(name);
    return found == keywords->end() || found->second.empty() ? std::string(otherwise) : found->second;
  };
  const std::string user = get("user", "");
  const std::string host = get("host", "localhost");
  return fmt::format("{}{}{}:{}/{}", user, user.empty() ? "" : "@", host, get("port", "5432"),
                     get("dbname", user.c_str()));
}

base::Status check_uri(const std::string& uri) {
  const auto keywords = parse(uri);
  if (!keywords) return std::unexpected(keywords.error());
  return {};
}

void Connection::Finish::operator()(pg_conn* handle) const { PQfinish(handle); }

Connection::Connection(ConnectOptions options) : options_(std::move(options)), place_(describe(options_.uri)) {}

Connection::~Connection() = default;

base::Status Connection::connect() {
  if (handle_) return {};
  auto keywords = parse(options_.uri);
  if (!keywords) return std::unexpected(keywords.error());
  // A database without an encoding hands out bytes that need not be UTF-8, and refuses to when asked for UTF-8.
  for (;;) {
    complete(*keywords, options_, sql_ascii_);
    handle_.reset(open(*keywords));
    if (PQstatus(handle_.get()) != CONNECTION_OK) {
      base::Error error = connect_failure(PQerrorMessage(handle_.get()));
      error.message = fmt::format("PostgreSQL {}: {}", place_, error.message);
      handle_.reset();
      return std::unexpected(std::move(error));
    }
    const char* encoding = PQparameterStatus(handle_.get(), "server_encoding");
    if (sql_ascii_ || encoding == nullptr || std::string_view(encoding) != "SQL_ASCII") break;
    sql_ascii_ = true;
  }
  PQsetNoticeProcessor(
      handle_.get(), [](void*, const char*) {}, nullptr);
  PQsetnonblocking(handle_.get(), 1);
  return {};
}

base::Result<Answer> Connection::ask(const std::string& sql, std::span<const Value> values) {
  refusal_.reset();
  if (auto status = connect(); !status) return std::unexpected(status.error());
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const Value& value : values) pointers.push_back(value ? value->c_str() : nullptr);
  return sent(PQsendQueryParams(handle_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, pointers.data(),
                                nullptr, nullptr, 0) == 1);
}

base::Result<Answer> Connection::sent(bool queued) {
  if (!queued) return std::unexpected(lost());
  std::vector<Answer> answers;
  if (auto status = collect(answers, {}); !status) return std::unexpected(status.error());
  if (answers.empty()) return Answer(PQmakeEmptyPGresult(handle_.get(), PGRES_TUPLES_OK));
  return std::move(answers.back());
}

base::Result<std::vector<Answer>> Connection::script(const std::string& sql, const CopyTaker& taker) {
  refusal_.reset();
  if (auto status = connect(); !status) return std::unexpected(status.error());
  if (PQsendQuery(handle_.get(), sql.c_str()) != 1) return std::unexpected(lost());
  std::vector<Answer> answers;
  if (auto status = collect(answers, taker); !status) {
    if (auto left = leave_transaction(); !left) close();
    return std::unexpected(status.error());
  }
  return answers;
}

// Reads every result of what was sent. The first failure is the one reported; the rest is read all the same, so that
// the connection stays usable.
base::Status Connection::collect(std::vector<Answer>& answers, const CopyTaker& taker) {
  base::Status outcome;
  for (;;) {
    Clock::time_point limit = deadline();
    if (auto status = until_ready(limit); !status) return status;
    PGresult* result = PQgetResult(handle_.get());
    if (result == nullptr) return outcome;
    switch (PQresultStatus(result)) {
      case PGRES_TUPLES_OK: answers.emplace_back(result); break;
      case PGRES_COPY_OUT: {
        PQclear(result);
        if (auto status = drain_copy(taker); !status) return status;
        if (!handle_) return outcome;
        break;
      }
      case PGRES_COMMAND_OK:
      case PGRES_EMPTY_QUERY: PQclear(result); break;
      default: {
        base::Error error = failed(result);
        PQclear(result);
        const bool ended = !handle_;
        if (outcome) outcome = std::unexpected(std::move(error));
        if (ended) return outcome;
      }
    }
  }
}

base::Status Connection::drain_copy(const CopyTaker& taker) {
  Clock::time_point limit = deadline();
  for (;;) {
    char* message = nullptr;
    const int size = PQgetCopyData(handle_.get(), &message, 1);
    if (size > 0) {
      const bool go_on = taker(std::string_view(message, static_cast<std::size_t>(size)));
      PQfreemem(message);
      if (!go_on) {
        close();
        return {};
      }
    } else if (size == 0) {
      if (auto status = wait(PQflush(handle_.get()) == 1, limit); !status) return status;
      if (PQconsumeInput(handle_.get()) != 1) return std::unexpected(lost());
      limit = deadline();
    } else if (size == -1) {
      return {};
    } else {
      return std::unexpected(lost());
    }
  }
}

// Until PQgetResult does not block; every arriving byte moves the deadline.
base::Status Connection::until_ready(Clock::time_point& limit) {
  for (;;) {
    const int unsent = PQflush(handle_.get());
    if (unsent < 0) return std::unexpected(lost());
    if (unsent == 0 && PQisBusy(handle_.get()) == 0) return {};
    if (auto status = wait(unsent == 1, limit); !status) return status;
    if (PQconsumeInput(handle_.get()) != 1) return std::unexpected(lost());
    limit = deadline();
  }
}

base::Status Connection::wait(bool writable_too, Clock::time_point limit) {
  pollfd socket{PQsocket(handle_.get()), static_cast<short>(POLLIN | (writable_too ? POLLOUT : 0)), 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    const int ready = left > 0 ? poll(&socket, 1, static_cast<int>(left)) : 0;
    if (ready > 0) return {};
    if (ready < 0 && errno == EINTR) continue;
    close();
    return base::fail(ErrorClass::kUnavailable,
                      fmt::format("PostgreSQL {}: no answer for {} ms", place_, options_.time_limit.count()));
  }
}

base::Status Connection::leave_transaction() {
  if (!handle_) return {};
  const auto status = PQtransactionStatus(handle_.get());
  if (status == PQTRANS_IDLE) return {};
  if (PQsendQuery(handle_.get(), "rollback") != 1) return std::unexpected(lost());
  std::vector<Answer> answers;
  return collect(answers, {});
}

base::Error Connection::lost() {
  std::string message = PQerrorMessage(handle_.get());
  close();
  message.resize(std::min(message.find('\n'), message.size()));
  return {ErrorClass::kUnavailable, fmt::format("PostgreSQL {}: {}", place_, message)};
}

base::Error Connection::failed(pg_result* result) {
  const char* sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  // Without a SQLSTATE it was libpq that gave up on the connection.
  if (sqlstate == nullptr) return lost();
  if (!refusal_) refusal_ = {sqlstate, primary != nullptr ? primary : ""};
  base::Error error = failure_of(sqlstate, primary != nullptr ? primary : PQresultErrorMessage(result));
  error.message = fmt::format("PostgreSQL {}: {}", place_, error.message);
  if (ends_connection(sqlstate)) close();
  return error;
}

base::Result<std::optional<std::string>> Connection::notification(std::chrono::milliseconds limit) {
  if (auto status = connect(); !status) return std::unexpected(status.error());
  const auto until = Clock::now() + limit;
  for (;;) {
    if (PQconsumeInput(handle_.get()) != 1) return std::unexpected(lost());
    if (PGnotify* notify = PQnotifies(handle_.get()); notify != nullptr) {
      std::string payload = notify->extra;
      PQfreemem(notify);
      return payload;
    }
    pollfd socket{PQsocket(handle_.get()), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    if (poll(&socket, 1, static_cast<int>(left)) < 0 && errno != EINTR) return std::unexpected(lost());
  }
}

}  // namespace spillway::postgres
