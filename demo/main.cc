// The main job in a few seconds: a shop writes orders and events into SQLite, `spillway run` carries the events to
// Kafka (librdkafka's mock brokers, inside this process), a consumer does its work once for each. In the middle the
// relay is killed with -9 and started again, and the brokers go away for a moment.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "demo/consumer.h"
#include "demo/order_service.h"
#include "kafka/mock_cluster.h"
#include "sqlite/schema.h"

namespace spillway::demo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kCustomers = 500;
constexpr int kTopicPartitions = 4;
const char* const kTopic = "outbox.event.order";

class RelayProcess {
 public:
  RelayProcess(fs::path binary, fs::path config, fs::path log)
      : binary_(std::move(binary)), config_(std::move(config)), log_(std::move(log)) {
    start();
  }
  ~RelayProcess() { end(SIGTERM); }

  void start() {
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (freopen(log_.c_str(), "a", stderr) == nullptr) _exit(127);
    execl(binary_.c_str(), "spillway", "run", "--config", config_.c_str(), nullptr);
    _exit(127);
  }
  // The exit status, or -1 where a signal ended it.
  int end(int signal) {
    if (pid_ <= 0) return 0;
    kill(pid_, signal);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  fs::path binary_;
  fs::path config_;
  fs::path log_;
  pid_t pid_ = 0;
};

fs::path fresh_folder(const fs::path& binary) {
  const fs::path folder = binary.parent_path() / "demo-data";
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void write_config(const fs::path& path, const fs::path& database, const std::string& bootstrap) {
  std::ofstream(path) << fmt::format(
      "outbox:\n  store: sqlite:{}\nkafka:\n  bootstrap.servers: {}\nhttp:\n  listen: 127.0.0.1:0\n", database.string(),
      bootstrap);
}

void tell(Clock::time_point start, std::string_view what) {
  fmt::print("[{:4.1f} s] {}\n", std::chrono::duration<double>(Clock::now() - start).count(), what);
  std::cout.flush();
}

int run(const fs::path& binary) {
  const auto start = Clock::now();
  const fs::path folder = fresh_folder(binary);
  const fs::path shop = folder / "shop.db";
  const fs::path inbox = folder / "inbox.db";
  for (const fs::path& path : {shop, inbox}) {
    if (const auto made = sqlite::install(path); !made) {
      std::cerr << made.error().message << '\n';
      return 1;
    }
  }
  kafka::MockCluster cluster(3);
  cluster.create_topic(kTopic, kTopicPartitions);
  write_config(folder / "spillway.yaml", shop, cluster.bootstrap());

  OrderService service(shop);
  Consumer consumer(cluster.bootstrap(), kTopic, kTopicPartitions, inbox);
  tell(start, "a shop with an outbox in SQLite, three Kafka brokers (mock), a consumer with an inbox");
  int customer = 0;
  const auto orders = [&](int count) {
    for (int i = 0; i < count; ++i) {
      service.change_order(customer = (customer * 31 + 7) % kCustomers);
      if (i % 250 == 0) consumer.poll();
    }
  };

  orders(2'000);
  tell(start,
       fmt::format("{} orders were changed while no relay ran: their events wait in the outbox", service.committed()));
  RelayProcess relay(binary, folder / "spillway.yaml", folder / "relay.log");
  orders(4'000);
  tell(start, "the relay was started and carries them, and new ones as they come");
  relay.end(SIGKILL);
  tell(start, fmt::format("the relay was killed with -9 after {} deliveries", consumer.delivered()));
  orders(1'000);
  relay.start();
  orders(1'000);
  tell(start,
       "a new relay was started: it waits for the dead one's lease to run out, then goes on from the saved place");
  cluster.set_reachable(false);
  orders(1'000);
  cluster.set_reachable(true);
  tell(start, "the brokers went away and came back; the relay waited");
  orders(1'000);

  const auto limit = Clock::now() + std::chrono::seconds(60);
  while (consumer.done() < service.committed() && Clock::now() < limit) consumer.poll();
  for (int i = 0; i < 5; ++i) consumer.poll();
  const int relay_status = relay.end(SIGTERM);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();

  const std::int64_t lost = service.committed() - consumer.done();
  fmt::print("\n");
  fmt::print("  {:<28}{:>9}\n", "events written", service.committed());
  fmt::print("  {:<28}{:>9}\n", "published, and done once", consumer.done());
  fmt::print("  {:<28}{:>9}\n", "lost", lost);
  fmt::print("  {:<28}{:>9}   (the inbox made them harmless)\n", "delivered twice", consumer.duplicates());
  fmt::print("  {:<28}{:>9}\n", "out of order per key", consumer.out_of_order());
  fmt::print("  {:<28}{:>9.1f}\n\n", "seconds", seconds);
  fmt::print("The outbox, the configuration and the relay's log are in {}\n", folder.string());
  const bool good = lost == 0 && consumer.out_of_order() == 0 && relay_status == 0;
  if (!good)
    fmt::print(stderr, "The demo failed: the relay ended with {}; see {}\n", relay_status,
               (folder / "relay.log").string());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace spillway::demo

int main() {
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  try {
    return spillway::demo::run(here / "spillway");
  } catch (const std::exception& error) {
    std::cerr << "The demo failed: " << error.what() << '\n';
    return 1;
  }
}
