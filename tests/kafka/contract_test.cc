// The contract of every Sink, on a real broker.
#include "kafka/sink_rig.h"
#include "ports/contract/sink_contract.h"
#include "support/kafka_broker.h"

namespace spillway::kafka {
namespace {

using ports::SinkContract;

class BrokerBench final : public ports::SinkBench {
 public:
  ports::Sink& sink() override { return rig_.sink(); }
  void create_topic(const std::string& name, std::int32_t partitions) override {
    broker().create_topic(name, partitions);
  }
  bool reports_missing_topics() const override { return true; }
  void wait() override { rig_.wait(); }
  std::vector<ports::StoredRecord> read(const std::string& topic, std::size_t) override {
    return read_topic(broker().bootstrap(), topic);
  }

 private:
  // One for all tests of this process: no test uses a topic of another one.
  static testing::KafkaBroker& broker() {
    static testing::KafkaBroker only({.auto_create_topics = false, .properties = {}});
    return only;
  }

  SinkRig rig_{broker().bootstrap(), {}, 1000};
};

INSTANTIATE_TEST_SUITE_P(Broker, SinkContract,
                         ::testing::Values(ports::MakeSinkBench([] { return std::make_unique<BrokerBench>(); })));

}  // namespace
}  // namespace spillway::kafka
