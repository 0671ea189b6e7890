#include "retry_storm.h"

#include "simulation.h"
#include "spillway/resilience/retry.h"
#include "table.h"

namespace spillway::resilience::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kFaultFrom = second(60), kFaultTo = second(120), kEnd = second(120);

struct Ratio {
  std::uint64_t requests = 0, attempts = 0;
  double value() const { return static_cast<double>(attempts) / static_cast<double>(requests); }
};

class Callers {
 public:
  Callers(bool with_budget, std::uint64_t seed)
      : simulation_(seed),
        retry_({.attempts = 4, .backoff = {.base = milliseconds(100), .cap = seconds(2)}}, simulation_.random,
               with_budget ? &budget_ : nullptr) {
    simulation_.arrivals([](Instant) { return 200.0; },
                         [this] {
                           ++at().requests;
                           attempt({.idempotent = true, .started = simulation_.now()});
                         });
  }

  RetryStormFigures run() {
    simulation_.run_until(kEnd);
    return {calm_.value(), outage_.value()};
  }

 private:
  Ratio& at() { return simulation_.now() < kFaultFrom ? calm_ : outage_; }

  // In calm times one request in a hundred fails; in the outage all do.
  void attempt(RetryQuestion question) {
    ++at().attempts;
    const bool outage = simulation_.now() >= kFaultFrom && simulation_.now() < kFaultTo;
    if (!outage && simulation_.random() >= 0.01) return retry_.succeeded();
    question.now = simulation_.now();
    const RetryAnswer answer = retry_.decide(question);
    if (!answer.again) return;
    ++question.attempts;
    simulation_.after(answer.delay, [this, question] { attempt(question); });
  }

  Simulation simulation_;
  RetryBudget budget_{{.capacity = 100, .ratio = 0.1}};
  Retry<> retry_;
  Ratio calm_, outage_;
};

}  // namespace

RetryStormFigures run_retry_storm(bool with_budget, std::uint64_t seed) { return Callers(with_budget, seed).run(); }

std::string retry_storm_table() {
  std::string table =
      row({"", "attempts per request, calm", "attempts per request, outage"}) + row({"---", "---", "---"});
  for (const bool with_budget : {false, true}) {
    const RetryStormFigures f = run_retry_storm(with_budget, 1);
    table += row({with_budget ? "budget of 0.1" : "nothing", fixed(f.calm, 3), fixed(f.outage, 3)});
  }
  return table;
}

}  // namespace spillway::resilience::examples
