// One question to the store at a time: which is out, and from when on the next may be asked.
#pragma once

#include <optional>
#include <utility>

#include "base/time.h"
#include "spillway/resilience/backoff.h"

namespace spillway::relay {

// `Kind`: what it is about, and what has to be known when the answer comes.
template <typename Kind>
class Question {
 public:
  bool may_ask(base::Instant now) const { return !out_ && now >= not_before_; }
  // It is out until `answered`.
  void ask(Kind kind, base::Instant now) { out_ = std::move(kind), asked_at_ = now, forgotten_ = false; }
  // What is being asked, also where nobody wants to know any more.
  const std::optional<Kind>& out() const { return out_; }

  // Of the last question.
  base::Instant asked_at() const { return asked_at_; }

  // What had been asked; empty where that was forgotten meanwhile: the answer counts for nothing.
  std::optional<Kind> answered() {
    auto kind = std::exchange(out_, std::nullopt);
    return forgotten_ ? std::nullopt : kind;
  }
  // What the answer said. After failures the next question waits ever longer; `uniform` gives numbers in [0, 1).
  void succeeded() { backoff_.reset(); }
  template <typename Uniform>
  void failed(base::Instant now, Uniform&& uniform) {
    not_before_ = now + backoff_.next(uniform);
  }

  // The question that is out, if any, was about what is forgotten now.
  void forget() { forgotten_ = true; }
  // Also after failures.
  void may_ask_from(base::Instant now) { not_before_ = now; }
  base::Instant not_before() const { return not_before_; }

 private:
  std::optional<Kind> out_;
  base::Instant asked_at_{};
  bool forgotten_ = false;
  base::Instant not_before_{};
  resilience::Backoff backoff_{{.base = std::chrono::milliseconds(50),
                                .factor = 2.0,
                                .cap = std::chrono::seconds(5),
                                .jitter = resilience::Jitter::kFull}};
};

}  // namespace spillway::relay
