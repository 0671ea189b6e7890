#include "runtime/relay_driver.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ports/fake/fake_outbox_store.h"

namespace spillway::runtime {
namespace {

// A sink that has something to say, and goes quiet only when it is asked.
class TalkativeSink final : public ports::Sink {
 public:
  TalkativeSink() : fd_(eventfd(1, EFD_NONBLOCK)) {}
  ~TalkativeSink() override { close(fd_); }

  ports::TopicId topic_id(std::string_view) override { return 0; }
  const ports::Topic& topic(ports::TopicId) const override { return topic_; }
  const std::string& topic_name(ports::TopicId) const override { return text_; }
  std::int32_t partition_for(ports::TopicId, std::optional<std::string_view>) override { return 0; }
  ports::SendOutcome send(const ports::Record&, std::uint64_t) override { return ports::SendOutcome::kNotReady; }
  const std::string& last_reason() const override { return text_; }
  std::size_t outstanding() const override { return 0; }
  void drain(ports::SinkEvents&) override {
    std::uint64_t count = 0;
    if (read(fd_, &count, sizeof count) == sizeof count) ++heard;
  }

  int fd() const { return fd_; }
  int heard = 0;

 private:
  int fd_;
  ports::Topic topic_;
  std::string text_;
};

TEST(RelayDriver, HearsTheSinkOutBeforeItIsStarted) {
  Loop loop;
  ports::FakeOutboxStore store;
  TalkativeSink sink;
  RelayDriver driver(loop, store, sink, sink.fd(), *relay::Route::make({}), {});
  Timer end(loop, [&] { loop.stop(); });
  end.after(std::chrono::milliseconds(50));
  loop.run();
  EXPECT_EQ(sink.heard, 1) << "an event that nobody takes wakes the loop without end";
}

}  // namespace
}  // namespace spillway::runtime
