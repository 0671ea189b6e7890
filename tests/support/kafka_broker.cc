#include "support/kafka_broker.h"

#include <librdkafka/rdkafka.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "support/eventually.h"
#include "support/free_port.h"

namespace spillway::testing {
namespace {

using std::chrono::seconds;

constexpr seconds kStartLimit{60};
constexpr int kRequestMs = 30000;
constexpr std::size_t kLogTail = 4000;
// A fixed id lets one formatted folder serve every broker: each is a cluster of its own all the same.
constexpr const char* kClusterId = "c3BpbGx3YXktdGVzdC1jbA";

std::filesystem::path libs_folder() {
  const char* given = std::getenv("KAFKA_LIBS_DIR");
  std::filesystem::path folder = given != nullptr ? given : KAFKA_LIBS_DIR;
  if (!std::filesystem::is_directory(folder)) {
    throw std::runtime_error("no Kafka jars in " + folder.string() +
                             ": run scripts/kafka-libs (./dev setup does) or set KAFKA_LIBS_DIR");
  }
  return folder;
}

std::vector<std::string> java(const std::vector<std::string>& rest, const std::vector<std::string>& flags = {}) {
  std::vector<std::string> args = {"java",
                                   "-Xms96m",
                                   "-Xmx384m",
                                   "-XX:+UseSerialGC",
                                   "-XX:TieredStopAtLevel=1",
                                   "-XX:-UsePerfData",
                                   "-Xshare:auto",
                                   "-Djava.awt.headless=true"};
  args.insert(args.end(), flags.begin(), flags.end());
  args.insert(args.end(), {"-cp", libs_folder().string() + "/*"});
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}

void write_file(const std::filesystem::path& path, const std::map<std::string, std::string>& properties) {
  std::ofstream file(path);
  for (const auto& [name, value] : properties) file << name << '=' << value << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// A client without a group, for metadata and topic administration.
class AdminClient {
 public:
  explicit AdminClient(const std::string& bootstrap) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char error[256];
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"bootstrap.servers", bootstrap}, {"reconnect.backoff.max.ms", "100"}, {"log_level", "0"}}) {
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error);
    }
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error));
    if (!client_) throw std::runtime_error(error);
    queue_.reset(rd_kafka_queue_new(client_.get()));
  }

  // True where the whole cluster's metadata satisfies `holds`.
  bool metadata(const std::function<bool(const rd_kafka_metadata_t&)>& holds) const {
    const rd_kafka_metadata_t* metadata = nullptr;
    if (rd_kafka_metadata(client_.get(), 1, nullptr, &metadata, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    const bool held = holds(*metadata);
    rd_kafka_metadata_destroy(metadata);
    return held;
  }

  void create(const std::string& name, int partitions, const std::map<std::string, std::string>& config) {
    char error[256];
    const std::unique_ptr<rd_kafka_NewTopic_t, decltype(&rd_kafka_NewTopic_destroy)> topic(
        rd_kafka_NewTopic_new(name.c_str(), partitions, 1, error, sizeof error), &rd_kafka_NewTopic_destroy);
    if (!topic) throw std::runtime_error(error);
    for (const auto& [key, value] : config) rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
    rd_kafka_NewTopic_t* topics[] = {topic.get()};
    rd_kafka_CreateTopics(client_.get(), topics, 1, nullptr, queue_.get());
    await([](rd_kafka_event_t* event, std::size_t* count) {
      return rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), count);
    });
  }

  void remove(const std::string& name) {
    const std::unique_ptr<rd_kafka_DeleteTopic_t, decltype(&rd_kafka_DeleteTopic_destroy)> topic(
        rd_kafka_DeleteTopic_new(name.c_str()), &rd_kafka_DeleteTopic_destroy);
    rd_kafka_DeleteTopic_t* topics[] = {topic.get()};
    rd_kafka_DeleteTopics(client_.get(), topics, 1, nullptr, queue_.get());
    await([](rd_kafka_event_t* event, std::size_t* count) {
      return rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), count);
    });
  }

  void configure(const std::string& name, const std::map<std::string, std::string>& config) {
    const std::unique_ptr<rd_kafka_ConfigResource_t, decltype(&rd_kafka_ConfigResource_destroy)> topic(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str()), &rd_kafka_ConfigResource_destroy);
    for (const auto& [key, value] : config) rd_kafka_ConfigResource_set_config(topic.get(), key.c_str(), value.c_str());
    rd_kafka_ConfigResource_t* topics[] = {topic.get()};
    rd_kafka_AlterConfigs(client_.get(), topics, 1, nullptr, queue_.get());
    const std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> event(answer(), &rd_kafka_event_destroy);
    std::size_t count = 0;
    const rd_kafka_ConfigResource_t** results =
        rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
    if (count == 1 && rd_kafka_ConfigResource_error(results[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw std::runtime_error(rd_kafka_ConfigResource_error_string(results[0]));
    }
  }

 private:
  rd_kafka_event_t* answer() {
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue_.get(), kRequestMs);
    if (event == nullptr) throw std::runtime_error("no answer from the broker");
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR) return event;
    const std::string text = rd_kafka_event_error_string(event);
    rd_kafka_event_destroy(event);
    throw std::runtime_error(text);
  }

  template <typename Topics>
  void await(Topics topics_of) {
    const std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> event(answer(), &rd_kafka_event_destroy);
    std::size_t count = 0;
    const rd_kafka_topic_result_t** results = topics_of(event.get(), &count);
    for (std::size_t i = 0; i < count; ++i) {
      if (rd_kafka_topic_result_error(results[i]) == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      const char* text = rd_kafka_topic_result_error_string(results[i]);
      throw std::runtime_error(text != nullptr ? text : rd_kafka_err2str(rd_kafka_topic_result_error(results[i])));
    }
  }

  struct Destroy {
    void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
    void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  };
  std::unique_ptr<rd_kafka_t, Destroy> client_;
  std::unique_ptr<rd_kafka_queue_t, Destroy> queue_;
};

const rd_kafka_metadata_topic* find_topic(const rd_kafka_metadata_t& metadata, const std::string& name) {
  for (int i = 0; i < metadata.topic_cnt; ++i) {
    if (metadata.topics[i].topic == name) return &metadata.topics[i];
  }
  return nullptr;
}

}  // namespace

KafkaBroker::KafkaBroker(KafkaOptions options)
    : options_(std::move(options)), folder_("kafka"), port_(free_port()), controller_port_(free_port()) {
  if (options_.advertised_by_proxy != 0) proxied_port_ = free_port();
  write_properties();
  format_data();
  start();
}

KafkaBroker::~KafkaBroker() { kill9(); }

void KafkaBroker::write_properties() const {
  const std::string here = "://127.0.0.1:";
  const std::string controller = ",CONTROLLER" + here + std::to_string(controller_port_);
  std::string listeners = "PLAINTEXT" + here + std::to_string(port_);
  std::string advertised = listeners;
  if (proxied_port_ != 0) {
    listeners += ",PROXIED" + here + std::to_string(proxied_port_);
    advertised += ",PROXIED" + here + std::to_string(options_.advertised_by_proxy);
  }
  std::map<std::string, std::string> properties = {
      {"process.roles", "broker,controller"},
      {"node.id", "1"},
      {"listeners", listeners + controller},
      {"advertised.listeners", advertised},
      {"controller.listener.names", "CONTROLLER"},
      // A static quorum keeps the ports out of the formatted folder.
      {"controller.quorum.voters", "1@127.0.0.1:" + std::to_string(controller_port_)},
      {"listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT"},
      {"inter.broker.listener.name", "PLAINTEXT"},
      {"log.dirs", folder_.path() / "data"},
      {"auto.create.topics.enable", options_.auto_create_topics ? "true" : "false"},
      {"offsets.topic.replication.factor", "1"},
      {"offsets.topic.num.partitions", "4"},
      {"transaction.state.log.replication.factor", "1"},
      {"transaction.state.log.min.isr", "1"},
      {"transaction.state.log.num.partitions", "4"},
      {"share.coordinator.state.topic.replication.factor", "1"},
      {"share.coordinator.state.topic.min.isr", "1"},
      {"group.initial.rebalance.delay.ms", "0"},
      {"num.io.threads", "2"},
      {"num.network.threads", "2"},
      // A killed broker may come back only when the controller has forgotten its last life; the default is 9 s.
      {"broker.session.timeout.ms", "4000"},
      {"broker.heartbeat.interval.ms", "500"},
      {"log.cleaner.dedupe.buffer.size", "8388608"}};
  for (const auto& [name, value] : options_.properties) properties[name] = value;
  write_file(folder_.path() / "broker.properties", properties);
  write_file(folder_.path() / "log4j2.properties", {{"rootLogger.level", "info"},
                                                    {"rootLogger.appenderRef.out.ref", "out"},
                                                    {"appender.out.type", "Console"},
                                                    {"appender.out.name", "out"},
                                                    {"appender.out.layout.type", "PatternLayout"},
                                                    {"appender.out.layout.pattern", "%d %p %m (%c)%n"}});
}

// Formatting takes a second of Java, a copy does not. Two processes may make the template at the same time; the rename
// lets one of them win.
void KafkaBroker::format_data() {
  const auto formatted = services_root() / "kafka-template";
  if (!std::filesystem::exists(formatted / "meta.properties")) {
    const Finished finished = run({.args = java({"kafka.tools.StorageTool", "format", "-t", kClusterId, "-c",
                                                 folder_.path() / "broker.properties"})});
    if (finished.exit_status != 0) fail("could not format its folder: " + finished.out + finished.err);
    const TempDir staging("kafka-format");
    std::filesystem::copy(folder_.path() / "data", staging.path() / "data", std::filesystem::copy_options::recursive);
    std::error_code lost_the_race;
    std::filesystem::rename(staging.path() / "data", formatted, lost_the_race);
    return;
  }
  std::filesystem::copy(formatted, folder_.path() / "data", std::filesystem::copy_options::recursive);
}

void KafkaBroker::start() {
  const std::string logging = "-Dlog4j2.configurationFile=" + (folder_.path() / "log4j2.properties").string();
  process_.emplace(ProcessOptions{.args = java({"kafka.Kafka", folder_.path() / "broker.properties"}, {logging}),
                                  .working_dir = folder_.path(),
                                  .out = log_file()});
  const AdminClient admin(bootstrap());
  const auto has_broker = [](const rd_kafka_metadata_t& metadata) { return metadata.broker_cnt == 1; };
  const bool answers = eventually([&] { return admin.metadata(has_broker) || !process_->running(); }, kStartLimit);
  if (!answers || !process_->running()) fail("did not start");
}

void KafkaBroker::stop() {
  if (!process_) return;
  process_->signal(SIGTERM);
  if (!process_->wait(seconds(60))) fail("did not stop within 60 s");
  process_.reset();
}

void KafkaBroker::kill9() { process_.reset(); }

void KafkaBroker::wipe() {
  kill9();
  std::filesystem::remove_all(folder_.path() / "data");
  format_data();
}

void KafkaBroker::freeze() {
  if (process_) process_->freeze();
}

void KafkaBroker::thaw() {
  if (process_) process_->thaw();
}

void KafkaBroker::create_topic(const std::string& name, int partitions,
                               const std::map<std::string, std::string>& config) {
  AdminClient admin(bootstrap());
  admin.create(name, partitions, config);
  const auto has_leaders = [&](const rd_kafka_metadata_t& metadata) {
    const rd_kafka_metadata_topic* topic = find_topic(metadata, name);
    if (topic == nullptr || topic->partition_cnt != partitions) return false;
    for (int i = 0; i < topic->partition_cnt; ++i) {
      if (topic->partitions[i].leader < 0) return false;
    }
    return true;
  };
  if (!eventually([&] { return admin.metadata(has_leaders); })) fail("created topic " + name + " without leaders");
}

void KafkaBroker::delete_topic(const std::string& name) {
  AdminClient admin(bootstrap());
  admin.remove(name);
  const auto is_gone = [&](const rd_kafka_metadata_t& metadata) { return find_topic(metadata, name) == nullptr; };
  if (!eventually([&] { return admin.metadata(is_gone); })) fail("still has the deleted topic " + name);
}

void KafkaBroker::configure_topic(const std::string& name, const std::map<std::string, std::string>& config) {
  AdminClient(bootstrap()).configure(name, config);
}

void KafkaBroker::fail(const std::string& what) const {
  std::ostringstream text;
  text << std::ifstream(log_file()).rdbuf();
  const std::string log = text.str();
  throw std::runtime_error("Kafka on port " + std::to_string(port_) + " " + what + "; its log ends with:\n" +
                           log.substr(log.size() > kLogTail ? log.size() - kLogTail : 0));
}

}  // namespace spillway::testing
