// TLS as the getter speaks it. Includes Boost, so it is for the .cc files of this folder alone, as beast.h.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <string>

#include "base/result.h"
#include "http/beast.h"

namespace spillway::http {

using TlsStream = asio::ssl::stream<beast::tcp_stream&>;

// For clients: TLS 1.2 or later, and a chain up to a certificate of the PEM file `ca`, or to one that the system trusts
// where that is empty. kMisconfigured where the file cannot be used: "PATH: No such file or directory".
base::Result<asio::ssl::context> open_tls(const std::string& ca);

// To be called before the handshake: it names the host of the URL (SNI), which may also be an address, and ends unless
// the certificate is for it (RFC 2818).
void expect_host(TlsStream& stream, const std::string& name);

// Why a handshake ended with `error`: "certificate not trusted (self-signed certificate)".
std::string handshake_words(TlsStream& stream, const error_code& error);

}  // namespace spillway::http
