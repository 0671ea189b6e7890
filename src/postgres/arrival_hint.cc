#include "postgres/arrival_hint.h"

#include <fmt/format.h>

#include <array>

#include "postgres/schema.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

constexpr auto kOwnNotificationLimit = std::chrono::seconds(2);

}  // namespace

ArrivalHint::ArrivalHint(ConnectOptions connect) : connect_(connect), connection_(std::move(connect)) {}

base::Result<bool> ArrivalHint::wait(std::chrono::milliseconds limit) {
  if (!connection_.connected()) {
    if (auto status = listen(); !status) {
      connection_.close();
      return std::unexpected(status.error());
    }
    return true;
  }
  auto came = connection_.notification(limit);
  if (!came) return std::unexpected(came.error());
  if (!*came) return false;
  // What else is there already means the same.
  for (;;) {
    const auto more = connection_.notification(std::chrono::milliseconds(0));
    if (!more) return std::unexpected(more.error());
    if (!*more) return true;
  }
}

// A pooler accepts LISTEN and then delivers nothing, without a word: only a notification of our own tells. It is sent
// on a second connection, because a pooler passes on what happens to come back while the listening one is served.
base::Status ArrivalHint::listen() {
  if (auto status = connection_.script(fmt::format("listen {}", kArrivalChannel)); !status) {
    return std::unexpected(status.error());
  }
  const std::string token = base::to_string(base::random_uuid());
  Connection sender(connect_);
  const auto sent = sender.ask("select pg_notify($1, $2)", std::array<Value, 2>{kArrivalChannel, token});
  if (!sent) return std::unexpected(sent.error());
  const auto until = std::chrono::steady_clock::now() + kOwnNotificationLimit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const auto came = connection_.notification(left);
    if (!came) return std::unexpected(came.error());
    if (*came && **came == token) return {};
  }
  return base::fail(
      ErrorClass::kMisconfigured,
      "outbox.listen gets no notifications, as behind a transaction pooler: give it a direct connection, or "
      "leave it empty and poll");
}

}  // namespace spillway::postgres
