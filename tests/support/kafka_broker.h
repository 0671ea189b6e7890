#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::testing {

struct KafkaOptions {
  bool auto_create_topics = true;
  std::uint16_t advertised_by_proxy = 0;            // port of a TcpProxy that leads to proxied_port(); 0: no proxy
  std::map<std::string, std::string> properties{};  // further broker properties; they win over ours
};

// A real Kafka broker, controller included, on 127.0.0.1. Data under services_root(); the ports stay the same over
// restarts. The jars come from KAFKA_LIBS_DIR, or from where `scripts/kafka-libs` puts them. Everything throws
// std::runtime_error, with the end of the broker's log, when the broker does not do as told.
class KafkaBroker {
 public:
  // Returns with the broker answering.
  explicit KafkaBroker(KafkaOptions options = {});
  ~KafkaBroker();
  KafkaBroker(const KafkaBroker&) = delete;
  KafkaBroker& operator=(const KafkaBroker&) = delete;

  // Straight to the broker.
  std::string bootstrap() const { return "127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  // Where a proxy has to lead: a client that comes in there is sent back to `advertised_by_proxy` by the metadata.
  std::uint16_t proxied_port() const { return proxied_port_; }
  std::filesystem::path log_file() const { return folder_.path() / "log"; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }

  void start();  // after stop() or kill9()
  void stop();   // SIGTERM, a controlled shutdown
  void kill9();
  void wipe();    // kill -9, and all topics and producer states are gone; the identity stays
  void freeze();  // SIGSTOP: connections stay open and silent
  void thaw();

  // Both return once the metadata says so.
  void create_topic(const std::string& name, int partitions = 1, const std::map<std::string, std::string>& config = {});
  void delete_topic(const std::string& name);
  // Replaces the topic's own settings.
  void configure_topic(const std::string& name, const std::map<std::string, std::string>& config);

 private:
  void write_properties() const;
  void format_data();
  [[noreturn]] void fail(const std::string& what) const;

  KafkaOptions options_;
  TempDir folder_;
  std::uint16_t port_;
  std::uint16_t controller_port_;
  std::uint16_t proxied_port_ = 0;
  std::optional<Process> process_;
};

}  // namespace spillway::testing
