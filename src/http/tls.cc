#include "http/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <boost/asio/ssl/host_name_verification.hpp>

namespace spillway::http {
namespace {

std::string file_words(const error_code& error) {
  // What the system said keeps its own category; OpenSSL's own words are about its parser.
  return error.category() == asio::error::get_ssl_category() ? "holds no certificates in PEM form" : error.message();
}

std::string failure_words(const error_code& error) {
  if (error == asio::error::eof || error == asio::error::connection_reset ||
      error == asio::ssl::error::stream_truncated) {
    return "the other side closed the connection";
  }
  if (error.category() != asio::error::get_ssl_category()) return error.message();
  const auto code = static_cast<unsigned long>(static_cast<unsigned>(error.value()));
  // What OpenSSL says of a record that is none.
  if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) return "the other side does not speak TLS";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : error.message();
}

}  // namespace

base::Result<asio::ssl::context> open_tls(const std::string& ca) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  context.set_verify_mode(asio::ssl::verify_peer);
  error_code error;
  if (ca.empty()) {
    context.set_default_verify_paths(error);
    if (error) return base::fail(base::ErrorClass::kMisconfigured, "the system's certificates: " + error.message());
    return context;
  }
  context.load_verify_file(ca, error);
  if (error) return base::fail(base::ErrorClass::kMisconfigured, fmt::format("{}: {}", ca, file_words(error)));
  // Whatever the file holds is trusted as it is, be it an intermediate authority or the server's own certificate.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.native_handle()), X509_V_FLAG_PARTIAL_CHAIN);
  return context;
}

void expect_host(TlsStream& stream, const std::string& name) {
  error_code not_an_address;
  asio::ip::make_address(name, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
  stream.set_verify_callback(
      [verify = asio::ssl::host_name_verification(name)](bool trusted, asio::ssl::verify_context& context) {
        const bool right = verify(trusted, context);
        if (trusted && !right) X509_STORE_CTX_set_error(context.native_handle(), X509_V_ERR_HOSTNAME_MISMATCH);
        return right;
      });
}

std::string handshake_words(TlsStream& stream, const error_code& error) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH) return "certificate is for another host";
  if (verdict != X509_V_OK) {
    return fmt::format("certificate not trusted ({})", X509_verify_cert_error_string(verdict));
  }
  return "TLS handshake failed: " + failure_words(error);
}

}  // namespace spillway::http
