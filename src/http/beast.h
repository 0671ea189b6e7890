// Boost.Asio and Boost.Beast under the names that the .cc files of this folder use. For them alone: no header that
// others include leads here, so that nobody else is built with Boost.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace spillway::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

}  // namespace spillway::http
