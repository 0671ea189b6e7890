// What every session of the store does alike: connect when first needed, connect anew when the connection or the file
// is lost, answer failures as values, and write only under the fence.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "ports/outbox_store.h"
#include "sqlite/connection.h"

namespace spillway::sqlite {

struct StoreOptions {
  std::string path;
  std::string name = "default";  // lease and progress are kept per name
  std::chrono::milliseconds time_limit{5000};
};

class Session {
 public:
  explicit Session(StoreOptions options) : options_(std::move(options)) {}

  const std::string& name() const { return options_.name; }

  // Runs `work(Connection&)`, which may throw Failure, and gives what it returns.
  template <typename Work>
  auto answer(Work&& work) -> base::Result<std::invoke_result_t<Work, Connection&>> {
    using Value = std::invoke_result_t<Work, Connection&>;
    try {
      Connection& connection = connected();
      if constexpr (std::is_void_v<Value>) {
        work(connection);
        return {};
      } else {
        return work(connection);
      }
    } catch (const Failure& failure) {
      if (failure.drop_connection) connection_.reset();
      return base::fail(failure.error_class, failure.what());
    }
  }

  // The same inside one transaction that holds the write lock; nothing is changed unless all of it succeeds.
  template <typename Work>
  auto write(Work&& work) -> base::Result<std::invoke_result_t<Work, Connection&>> {
    return answer([&](Connection& connection) {
      Transaction transaction(connection, Transaction::Kind::kWrite);
      if constexpr (std::is_void_v<std::invoke_result_t<Work, Connection&>>) {
        work(connection);
        transaction.commit();
      } else {
        auto value = work(connection);
        transaction.commit();
        return value;
      }
    });
  }

  // The same, and only while the lease and the incarnation are the fence's. No write of a relay goes another way.
  template <typename Work>
  auto fenced(const ports::Fence& fence, Work&& work) -> base::Result<std::invoke_result_t<Work, Connection&>> {
    return write([&](Connection& connection) {
      check_fence(connection, fence);
      return work(connection);
    });
  }

 private:
  Connection& connected();
  void check_fence(Connection& connection, const ports::Fence& fence) const;

  StoreOptions options_;
  std::unique_ptr<Connection> connection_;
};

// Which life of which file: changes when the file is replaced, also by an older copy of itself.
std::string incarnation(Connection& connection);

// By the store's own clock.
std::int64_t now_millis(Connection& connection);

// The largest seq ever given out; 0 before the first.
std::int64_t newest_seq(Connection& connection);

}  // namespace spillway::sqlite
