// Errors as values. The class of an error names its consequence for the caller; the message is for people.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace spillway::base {

enum class ErrorClass {
  kTransient,      // try the same thing again soon
  kThrottled,      // the other side asked us to wait
  kUnavailable,    // nobody answers; wait without counting attempts
  kRejected,       // this one request can never succeed; others can
  kLostPlace,      // what is in memory no longer describes the store: load the saved position again
  kLostLease,      // somebody else owns the outbox now
  kMisconfigured,  // a person has to change something
  kFatal,          // the object that said it must be discarded
};

struct Error {
  ErrorClass error_class = ErrorClass::kTransient;
  std::string message;  // one sentence: what happened and, where one is known, the remedy
};

template <typename T>
using Result = std::expected<T, Error>;

using Status = Result<void>;

inline std::unexpected<Error> fail(ErrorClass error_class, std::string message) {
  return std::unexpected(Error{error_class, std::move(message)});
}

constexpr const char* to_string(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kTransient: return "transient";
    case ErrorClass::kThrottled: return "throttled";
    case ErrorClass::kUnavailable: return "unavailable";
    case ErrorClass::kRejected: return "rejected";
    case ErrorClass::kLostPlace: return "lost place";
    case ErrorClass::kLostLease: return "lost lease";
    case ErrorClass::kMisconfigured: return "misconfigured";
    case ErrorClass::kFatal: return "fatal";
  }
  return "unknown";
}

}  // namespace spillway::base
