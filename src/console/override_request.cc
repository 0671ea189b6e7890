#include "console/override_request.h"

#include <fmt/format.h>

#include <chrono>

#include "config/quantity.h"

namespace spillway::console {

base::Result<ports::OverrideRequest> override_request(const OverrideWish& wish) {
  ports::OverrideRequest request{.max_total = wish.max, .reason = wish.reason, .who = wish.who};
  if (!wish.lasts.empty()) {
    const auto lasts = config::parse_duration(wish.lasts);
    if (!lasts) {
      const config::Misread& wrong = lasts.error();
      return base::fail(
          base::ErrorClass::kRejected,
          fmt::format("for how long: \"{}\" {}; expected a time such as 30m, 24h at most", wish.lasts, wrong.problem));
    }
    request.lasts = std::chrono::duration_cast<std::chrono::milliseconds>(*lasts);
  }
  if (auto fit = ports::check(request); !fit) return std::unexpected(fit.error());
  return request;
}

}  // namespace spillway::console
