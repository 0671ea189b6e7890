// Judges pages by rules, with as few questions to the database as there are rules that need it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ports/judge.h"
#include "ports/triage_session.h"
#include "triage/rule.h"

namespace spillway::triage {

// Writes the key that the row's record gets; false where it has none.
using KeyOf = std::function<bool(const model::Row&, std::string&)>;

class RuleJudge final : public ports::Judge {
 public:
  RuleJudge(Rules rules, std::unique_ptr<ports::TriageSession> session, KeyOf key_of)
      : rules_(std::move(rules)), session_(std::move(session)), key_of_(std::move(key_of)) {}

  // Whether the database understands every query: kMisconfigured names the first rule of which it does not.
  base::Status check();

  base::Result<std::vector<ports::Judgement>> judge(const model::Page& page, std::int64_t as_of_unix_micros) override;

 private:
  Rules rules_;
  std::unique_ptr<ports::TriageSession> session_;
  KeyOf key_of_;
};

}  // namespace spillway::triage
