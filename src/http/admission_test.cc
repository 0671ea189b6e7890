#include "http/admission.h"

#include <gtest/gtest.h>

namespace spillway::http {
namespace {

Request change() {
  return {.method = "POST", .host = "127.0.0.1:8787", .content_type = "application/json; charset=utf-8"};
}

unsigned status_of(const std::optional<Response>& refusal) { return refusal ? refusal->status : 0; }

TEST(Admission, LetsTheOwnPageRead) {
  const Admission admission("127.0.0.1", "");
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = "localhost:8787"})), 0u);
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = "[::1]:8787", .origin = "http://[::1]:8787"})), 0u);
}

TEST(Admission, RefusesANameThatWasReboundToLoopback) {
  const Admission admission("127.0.0.1", "");
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = "evil.example:8787"})), 403u);
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = "127.0.0.1.evil.example"})), 403u);
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = ""})), 400u);
}

TEST(Admission, TakesAnyHostWhereItListensToTheNetwork) {
  EXPECT_EQ(status_of(Admission("0.0.0.0", "t").refuse({.method = "GET", .host = "relay.internal"})), 0u);
}

TEST(Admission, RefusesOtherOrigins) {
  const Admission admission("127.0.0.1", "");
  Request request = change();
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1:87870"}) {
    request.origin = origin;
    EXPECT_EQ(status_of(admission.refuse(request)), 403u) << origin;
  }
  request.origin = "http://127.0.0.1:8787";
  EXPECT_EQ(status_of(admission.refuse(request)), 0u);
}

TEST(Admission, TakesChangesOnlyAsJsonByPost) {
  const Admission admission("127.0.0.1", "");
  Request request = change();
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    request.content_type = type;
    EXPECT_EQ(status_of(admission.refuse(request)), 415u) << type;
  }
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "PATCH"}) {
    request.method = method;
    EXPECT_EQ(status_of(admission.refuse(request)), 405u) << method;
  }
}

TEST(Admission, AsksForTheTokenOnChangesAlone) {
  const Admission admission("127.0.0.1", "s3cret");
  EXPECT_EQ(status_of(admission.refuse({.method = "GET", .host = "localhost"})), 0u);
  Request request = change();
  for (const char* given :
       {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2", "Bearer s3crets3cret", "Basic s3cret", "s3cret"}) {
    request.authorization = given;
    EXPECT_EQ(status_of(admission.refuse(request)), 401u) << given;
  }
  request.authorization = "bearer s3cret";
  EXPECT_EQ(status_of(admission.refuse(request)), 0u);
}

TEST(SameSecret, AnEmptyOneMatchesNothing) {
  EXPECT_FALSE(same_secret("", ""));
  EXPECT_FALSE(same_secret("a", ""));
  EXPECT_TRUE(same_secret("ab", "ab"));
  EXPECT_FALSE(same_secret("abab", "ab"));
}

}  // namespace
}  // namespace spillway::http
