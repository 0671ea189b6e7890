#include "metastable.h"

#include <memory>

#include "simulation.h"
#include "spillway/resilience/load_shedder.h"
#include "table.h"

namespace spillway::resilience::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWorkers = 10;
constexpr Duration kWork = milliseconds(100);
constexpr Duration kPatience = seconds(1);
constexpr int kAttempts = 4;
constexpr Instant kSpikeFrom = second(30), kSpikeTo = second(40), kAfterFrom = second(70), kEnd = second(130);

class Service {
 public:
  Service(bool shedding, std::uint64_t seed) : simulation_(seed), server_(simulation_, kWorkers), shedding_(shedding) {
    const auto rate = [](Instant now) { return now >= kSpikeFrom && now < kSpikeTo ? 240.0 : 80.0; };
    simulation_.arrivals(rate, [this] { attempt(1); });
  }

  MetastableFigures run() {
    simulation_.run_until(kEnd);
    return {per_second(before_, Instant{}, kSpikeFrom), per_second(spike_, kSpikeFrom, kSpikeTo),
            per_second(after_, kAfterFrom, kEnd)};
  }

 private:
  static double per_second(std::uint64_t answers, Instant from, Instant to) {
    return static_cast<double>(answers) / std::chrono::duration<double>(to - from).count();
  }

  // A caller that has no answer after a second asks again; its old request stays in the queue.
  void attempt(int number) {
    const Instant asked = simulation_.now();
    auto answered = std::make_shared<bool>(false);
    server_.submit({[this, asked] { return !shedding_ || admit(asked); }, [] { return kWork; },
                    [this, asked, answered] {
                      shedder_.served(kWork);
                      if (simulation_.now() - asked > kPatience) return;
                      *answered = true;
                      count();
                    }});
    simulation_.after(kPatience, [this, number, answered] {
      if (!*answered && number < kAttempts) attempt(number + 1);
    });
  }

  bool admit(Instant asked) {
    const Instant now = simulation_.now();
    return shedder_.admit({.now = now, .queued_since = asked, .deadline = Deadline::after(asked, kPatience)}) ==
           Cause::kNone;
  }

  void count() {
    const Instant now = simulation_.now();
    if (now < kSpikeFrom) ++before_;
    if (now >= kSpikeFrom && now < kSpikeTo) ++spike_;
    if (now >= kAfterFrom) ++after_;
  }

  Simulation simulation_;
  Server server_;
  bool shedding_;
  LoadShedder shedder_{{.queue_target = milliseconds(100), .queue_interval = milliseconds(500)}};
  std::uint64_t before_ = 0, spike_ = 0, after_ = 0;
};

}  // namespace

MetastableFigures run_metastable(bool shedding, std::uint64_t seed) { return Service(shedding, seed).run(); }

std::string metastable_table() {
  std::string table = row({"", "before", "during the spike", "after"}) + row({"---", "---", "---", "---"});
  for (const bool shedding : {false, true}) {
    const MetastableFigures f = run_metastable(shedding, 1);
    table += row({shedding ? "shedding" : "nothing", fixed(f.before, 1), fixed(f.spike, 1), fixed(f.after, 1)});
  }
  return table;
}

}  // namespace spillway::resilience::examples
