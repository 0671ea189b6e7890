// The lag of a consumer group. The questions block, so a thread of its own asks them.
#pragma once

#include <memory>
#include <optional>

#include "config/config.h"
#include "kafka/properties.h"
#include "runtime/loop.h"
#include "signals/lag_windows.h"
#include "signals/signal_source.h"

namespace spillway::signals {

class KafkaLagSource final : public SignalSource {
 public:
  // kMisconfigured where librdkafka refuses the properties. Brokers may be away.
  static base::Result<std::unique_ptr<KafkaLagSource>> open(runtime::Loop& loop, const config::SignalConfig& config,
                                                            const kafka::Properties& properties, Emit emit);
  // Takes at most half a second; a question that hangs is left behind with its thread, which holds nothing of ours.
  ~KafkaLagSource() override;

  std::string trouble(base::Instant now) const override;

 private:
  struct Asking;
  KafkaLagSource(runtime::Loop& loop, const config::SignalConfig& config, std::shared_ptr<Asking> asking, Emit emit);

  void take_answer();

  base::Duration patience_;
  Emit emit_;
  LagWindows windows_;
  std::optional<std::string> failure_ = "was not asked yet";
  base::Instant answered_at_;
  std::shared_ptr<Asking> asking_;
  runtime::Watch watch_;
};

}  // namespace spillway::signals
