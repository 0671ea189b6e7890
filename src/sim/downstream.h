// A simulated downstream. Its owner tells it what arrives and asks it what completes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/random.h"
#include "sim/scenario.h"

namespace spillway::sim {

using CallId = std::uint32_t;

struct Completion {
  CallId call;
  double in_service_s;  // without the wait before it
};

class Downstream {
 public:
  virtual ~Downstream() = default;

  // False: refused at once (503). Times never go back.
  virtual bool arrive(double now, CallId call) = 0;
  virtual double next_completion() const = 0;  // kNever where nothing is in service
  virtual Completion complete() = 0;           // the one at next_completion()
  virtual void change(double now, const Change& change) = 0;
  virtual void pause(double now, double seconds) = 0;
  virtual std::size_t waiting() const = 0;
};

std::unique_ptr<Downstream> make_downstream(const DownstreamSpec& spec, Random& random);

}  // namespace spillway::sim
