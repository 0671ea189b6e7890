// What is to become of old events before they are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/row.h"
#include "model/settlement.h"

namespace spillway::ports {

struct Judgement {
  std::size_t row = 0;                                // index in the page's rows
  model::Verdict verdict = model::Verdict::kPublish;  // kPublish, kReconcile or kDiscard
  std::string rule{};                                 // which rule decided
  std::string reason{};                               // one line for people
};

class Judge {
 public:
  virtual ~Judge() = default;

  // Ascending by row. A row that is not named is published, and no rule had a say in it.
  //
  // `as_of_unix_micros`: the moment against which ages are taken, by the database's clock; the same for every retry of
  // a page. What the rules ask of the database may have another answer at a retry, so a verdict is made durable before
  // anything is done about it.
  //
  // May ask the database and then takes as long as that does; one thread at a time. On failure no row is judged:
  // kUnavailable and kTransient, the same again may do; kMisconfigured, a person has to mend a rule.
  virtual base::Result<std::vector<Judgement>> judge(const model::Page& page, std::int64_t as_of_unix_micros) = 0;
};

}  // namespace spillway::ports
