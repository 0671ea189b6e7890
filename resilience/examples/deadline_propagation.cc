#include "deadline_propagation.h"

#include <optional>
#include <string>

#include "simulation.h"
#include "spillway/resilience/deadline_header.h"
#include "table.h"

namespace spillway::resilience::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ten workers of 100 ms each: 100 requests a second. 130 come.
constexpr int kWorkers = 10;
constexpr Duration kWork = milliseconds(100);
constexpr Duration kPatience = seconds(1);
constexpr Instant kEnd = second(60);

}  // namespace

DeadlineFigures run_deadline_propagation(bool propagated, std::uint64_t seed) {
  Simulation simulation(seed);
  Server service(simulation, kWorkers);
  DeadlineReader reader;
  std::uint64_t worked = 0, wasted = 0;

  simulation.arrivals(
      [](Instant) { return 130.0; },
      [&] {
        const Deadline caller = Deadline::after(simulation.now(), kPatience);
        // On the wire: the caller writes the header, the service reads it.
        std::optional<std::string> header;
        if (propagated) header = std::string(deadline_to_header(caller, simulation.now())->view());
        const Deadline known = reader.read(header, simulation.now());
        service.submit({[&simulation, known] { return known.fits(simulation.now(), kWork); }, [] { return kWork; },
                        [&, caller] {
                          ++worked;
                          if (simulation.now() > caller.instant()) ++wasted;
                        }});
      });
  simulation.run_until(kEnd);
  const double run_seconds = std::chrono::duration<double>(kEnd.time_since_epoch()).count();
  return {static_cast<double>(wasted) / static_cast<double>(worked),
          static_cast<double>(worked - wasted) / run_seconds};
}

std::string deadline_table() {
  std::string table =
      row({"", "work done for callers who left", "useful answers a second"}) + row({"---", "---", "---"});
  for (const bool propagated : {false, true}) {
    const DeadlineFigures f = run_deadline_propagation(propagated, 1);
    table += row({propagated ? "header" : "nothing", percent(f.wasted), fixed(f.goodput, 1)});
  }
  return table;
}

}  // namespace spillway::resilience::examples
