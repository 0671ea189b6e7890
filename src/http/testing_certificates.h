// For tests: certificates made on the spot, and files that hold them.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

namespace spillway::http {

struct Identity {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
  std::string pem;      // the certificate
  std::string key_pem;  // unencrypted
};

struct IdentitySpec {
  const char* names = "IP:127.0.0.1";  // as in openssl.cnf's subjectAltName
  long seconds_left = 3600;
  const Identity* issuer = nullptr;  // none: signed by itself
};

template <typename Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free);
  write(memory.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

inline void add_extension(X509* to, int kind, const char* value) {
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value), X509_EXTENSION_free);
  X509_add_ext(to, extension.get(), -1);
}

inline Identity make_identity(const IdentitySpec& spec = {}) {
  Identity made{
      .key = {EVP_EC_gen("P-256"), EVP_PKEY_free}, .certificate = {X509_new(), X509_free}, .pem = {}, .key_pem = {}};
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), spec.seconds_left);
  X509_set_pubkey(certificate, made.key.get());
  const auto* subject = reinterpret_cast<const unsigned char*>(spec.issuer != nullptr ? "server" : "authority");
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, subject, -1, -1, 0);
  const Identity& issuer = spec.issuer != nullptr ? *spec.issuer : made;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate.get()));
  add_extension(certificate, NID_subject_alt_name, spec.names);
  if (spec.issuer == nullptr) add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate, issuer.key.get(), EVP_sha256());
  made.pem = pem_of([&](BIO* to) { PEM_write_bio_X509(to, certificate); });
  made.key_pem =
      pem_of([&](BIO* to) { PEM_write_bio_PrivateKey(to, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  return made;
}

class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    close(mkstemp(path_.data()));
    std::ofstream(path_) << text;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/spillway-test-XXXXXX";
};

}  // namespace spillway::http
