#include "recovery/backlog.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <libpq-fe.h>

#include <memory>
#include <stdexcept>

#include "recovery/event_names.h"

namespace spillway::testing {
namespace {

constexpr std::size_t kChunk = 1 << 16;

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

[[noreturn]] void fail(PGconn* connection) { throw std::runtime_error(PQerrorMessage(connection)); }

void put(PGconn* connection, std::string& text) {
  if (PQputCopyData(connection, text.data(), static_cast<int>(text.size())) != 1) fail(connection);
  text.clear();
}

}  // namespace

std::string BacklogSpec::key(std::int64_t number) const { return fmt::format("b{}", number); }

std::int64_t BacklogSpec::events_of_key(std::int64_t number) const {
  return number < events ? (events - number - 1) / keys + 1 : 0;
}

void fill(const std::string& uri, const BacklogSpec& spec) {
  const Connection connection(PQconnectdb(uri.c_str()), PQfinish);
  const std::string created =
      fmt::format("{:%Y-%m-%d %H:%M:%S}Z",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - spec.age)));
  const Answer begun(
      PQexec(connection.get(),
             "copy spillway.outbox (id, aggregatetype, aggregateid, type, payload, created_at) from stdin"),
      PQclear);
  if (PQresultStatus(begun.get()) != PGRES_COPY_IN) fail(connection.get());
  std::string text;
  for (std::int64_t i = 0; i < spec.events; ++i) {
    const std::string key = spec.key(i % spec.keys);
    const std::string& type = spec.types[static_cast<std::size_t>(i) % spec.types.size()];
    text += fmt::format("{}\t{}\t{}\t{}\t{} {}\t{}\n", to_uuid({false, i}), spec.topic, key, type, key,
                        i / spec.keys + 1, created);
    if (text.size() > kChunk) put(connection.get(), text);
  }
  put(connection.get(), text);
  if (PQputCopyEnd(connection.get(), nullptr) != 1) fail(connection.get());
  const Answer done(PQgetResult(connection.get()), PQclear);
  if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) fail(connection.get());
}

}  // namespace spillway::testing
