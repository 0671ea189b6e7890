#include "cascade.h"

#include <memory>

#include "simulation.h"
#include "spillway/resilience/bulkhead.h"
#include "spillway/resilience/circuit_breaker.h"
#include "table.h"

namespace spillway::resilience::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWorkers = 16;
constexpr Duration kPatience = seconds(1);
constexpr Instant kFaultFrom = second(30), kFaultTo = second(90), kEnd = second(150);

struct Share {
  std::uint64_t asked = 0, answered = 0;
  double value() const { return static_cast<double>(answered) / static_cast<double>(asked); }
};

// A shop with two pages: one that needs nothing, one that asks a dependency.
class Shop {
 public:
  Shop(bool guarded, std::uint64_t seed) : simulation_(seed), server_(simulation_, kWorkers), guarded_(guarded) {
    simulation_.arrivals([](Instant) { return 60.0; }, [this] { healthy_page(); });
    simulation_.arrivals([](Instant) { return 40.0; }, [this] { slow_page(); });
  }

  CascadeFigures run() {
    simulation_.run_until(kEnd);
    return {healthy_before_.value(), healthy_during_.value(), slow_after_.value()};
  }

 private:
  bool fault() const { return simulation_.now() >= kFaultFrom && simulation_.now() < kFaultTo; }

  void healthy_page() {
    Share* share = simulation_.now() < kFaultFrom ? &healthy_before_ : fault() ? &healthy_during_ : nullptr;
    const Instant asked = simulation_.now();
    if (share != nullptr) ++share->asked;
    server_.submit({[] { return true; }, [] { return milliseconds(20); },
                    [this, share, asked] {
                      if (share != nullptr && simulation_.now() - asked <= kPatience) ++share->answered;
                    }});
  }

  struct Permits {
    CircuitBreaker::Permit breaker;
    Bulkhead::Permit bulkhead;
    Instant started;
  };

  void slow_page() {
    // Once the fault is over and what it left behind had half a minute to go away.
    Share* share = simulation_.now() >= kFaultTo + seconds(30) ? &slow_after_ : nullptr;
    const Instant asked = simulation_.now();
    if (share != nullptr) ++share->asked;
    auto permits = std::make_shared<Permits>();
    server_.submit({[this, permits] { return !guarded_ || admit(*permits); },
                    [this, permits] {
                      permits->started = simulation_.now();
                      return fault() ? Duration(seconds(5)) : Duration(milliseconds(50));
                    },
                    [this, permits, share, asked] {
                      const Instant now = simulation_.now();
                      permits->breaker.record(Outcome::kSuccess, now - permits->started, now);
                      permits->bulkhead.drop();
                      if (share != nullptr && now - asked <= kPatience) ++share->answered;
                    }});
  }

  bool admit(Permits& permits) {
    auto admission = breaker_.try_acquire(simulation_.now());
    if (!admission) return false;
    permits.bulkhead = bulkhead_.try_acquire();
    if (!permits.bulkhead) return false;
    permits.breaker = std::move(admission.permit);
    return true;
  }

  Simulation simulation_;
  Server server_;
  bool guarded_;
  CircuitBreaker breaker_{{.window_size = 20,
                           .minimum_calls = 10,
                           .slow_rate_percent = 50,
                           .slow_threshold = milliseconds(500),
                           .open_wait = seconds(10),
                           .trials = 2},
                          Instant{}};
  Bulkhead bulkhead_{{.limit = 8}};
  Share healthy_before_, healthy_during_, slow_after_;
};

}  // namespace

CascadeFigures run_cascade(bool guarded, std::uint64_t seed) { return Shop(guarded, seed).run(); }

std::string cascade_table() {
  std::string table = row({"", "healthy page before", "healthy page during the fault", "slow page after"}) +
                      row({"---", "---", "---", "---"});
  for (const bool guarded : {false, true}) {
    const CascadeFigures f = run_cascade(guarded, 1);
    table += row({guarded ? "breaker + bulkhead" : "nothing", percent(f.healthy_before), percent(f.healthy_during),
                  percent(f.slow_after)});
  }
  return table;
}

}  // namespace spillway::resilience::examples
