#include "http/trust.h"

#include "http/tls.h"

namespace spillway::http {

base::Status check_trust(const std::string& ca) {
  if (const auto context = open_tls(ca); !context) return std::unexpected(context.error());
  return {};
}

}  // namespace spillway::http
