// What goes into one call through a pipeline, and what comes out.
#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <optional>
#include <stop_token>
#include <type_traits>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/deadline.h"
#include "spillway/resilience/outcome.h"

namespace spillway::resilience {

struct CallOptions {
  Deadline deadline{};                    // the caller's own, say from an incoming request
  bool idempotent = false;                // carrying it out twice does no harm: only then is it repeated
  std::uint32_t priority = 0;             // 0 is the most important
  std::stop_token cancel{};               // asked to stop: no further attempt, and what failed counts as cancelled
  std::optional<Instant> queued_since{};  // when the request came, for a load shedder
  std::uint32_t load_percent = 0;         // of this server, for a load shedder
};

// What a body may ask for as its argument: `pipeline.call([](const Attempt& attempt) { … })`.
struct Attempt {
  std::uint32_t number = 1;  // 1 is the first
  Deadline deadline{};       // of this attempt: the earliest of all that apply. Send it on; stop work at it.
};

// The error type of a body that returns a plain value: such a body fails only by exception.
struct NoError {};

template <typename E>
struct Failure {
  Cause cause = Cause::kOperation;  // what ended the last attempt
  std::optional<E> error{};         // the operation's own last error, if any attempt got so far
  std::exception_ptr exception{};   // the same for a body that throws
};

template <typename T, typename E>
struct CallResult {
  std::expected<T, Failure<E>> result;
  std::uint32_t attempts = 0;       // begun, those refused by an inner policy included
  Cause stopped_by = Cause::kNone;  // why there was no further attempt
  bool fresh = true;                // false: from the fallback
  Duration age{};                   // of a value from the fallback

  bool ok() const noexcept { return result.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  decltype(auto) value() const { return result.value(); }
  const Failure<E>& failure() const { return result.error(); }
  // kNone for a success.
  Cause cause() const noexcept { return ok() ? Cause::kNone : result.error().cause; }
};

namespace detail {

template <typename R>
struct Returned {
  using Value = R;
  using Error = NoError;
};
template <typename T, typename E>
struct Returned<std::expected<T, E>> {
  using Value = T;
  using Error = E;
};

// The end of one attempt, as a driver saw it.
template <typename T, typename E>
struct AttemptEnd {
  std::optional<std::expected<T, E>> returned{};
  std::exception_ptr thrown{};  // neither of the two: broken off at its deadline
};

// An error type may bring its own judgement: `Judgement judge(const MyError&)`, found beside the type.
template <typename E>
concept Judged = requires(const E& error) {
  { judge(error) } -> std::same_as<Judgement>;
};

}  // namespace detail
}  // namespace spillway::resilience
