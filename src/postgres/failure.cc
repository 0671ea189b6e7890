#include "postgres/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace spillway::postgres {
namespace {

using base::ErrorClass;

std::string first_line(std::string message) {
  message.resize(std::min(message.find('\n'), message.size()));
  while (!message.empty() && (message.back() == '\r' || message.back() == ' ')) message.pop_back();
  return message;
}

const char* remedy(std::string_view sqlstate) {
  if (sqlstate == "42P01" || sqlstate == "3F000" || sqlstate == "42883")
    return "; run `spillway init` on this database";
  if (sqlstate == "42703") return "; run `spillway init` to upgrade, or correct outbox.columns";
  if (sqlstate == "42501") return "; grant it to this user, or use the roles that `spillway init --roles` makes";
  return "";
}

ErrorClass class_of(std::string_view sqlstate) {
  if (ends_connection(sqlstate)) return ErrorClass::kUnavailable;
  const std::string_view group = sqlstate.substr(0, 2);
  // Resources run out, conflicts, a lock or statement timeout, the server's own mishaps: the same again may do.
  if (group == "53" || group == "40" || group == "55" || group == "57" || group == "58" || group == "XX") {
    return ErrorClass::kTransient;
  }
  if (group == "42" || group == "3F" || group == "28" || group == "3D") return ErrorClass::kMisconfigured;
  return ErrorClass::kRejected;
}

}  // namespace

bool ends_connection(std::string_view sqlstate) {
  constexpr std::array<std::string_view, 6> kEnding{"25006", "57P01", "57P02", "57P03", "57P05", "25P03"};
  return sqlstate.starts_with("08") || std::ranges::find(kEnding, sqlstate) != kEnding.end();
}

base::Error failure_of(std::string_view sqlstate, std::string message) {
  return {class_of(sqlstate),
          fmt::format("{} (SQLSTATE {}){}", first_line(std::move(message)), sqlstate, remedy(sqlstate))};
}

base::Error connect_failure(std::string message) {
  constexpr std::array<std::string_view, 9> kForPeople{"password authentication failed",
                                                       "no password supplied",
                                                       "pg_hba.conf",
                                                       "no such database",
                                                       "no such user",
                                                       "authentication failed",
                                                       "does not support SSL",
                                                       "not permitted to log in",
                                                       "permission denied for database"};
  const auto says = [&](std::string_view words) { return message.find(words) != std::string::npos; };
  const bool missing = (says("database \"") || says("role \"")) && says("\" does not exist");
  const bool misconfigured = missing || std::ranges::any_of(kForPeople, says);
  return {misconfigured ? ErrorClass::kMisconfigured : ErrorClass::kUnavailable, first_line(std::move(message))};
}

}  // namespace spillway::postgres
