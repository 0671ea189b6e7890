#include "telemetry/log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "telemetry/repeat_limit.h"

namespace spillway::telemetry {
namespace {

class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::FILE* out) : out_(out) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }
  void flush_() override { std::fflush(out_); }

  std::FILE* out_;
};

base::Instant steady_now() {
  return base::Instant(std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

const char* pattern(LogFormat format) {
  return format == LogFormat::kText ? "%Y-%m-%dT%H:%M:%S.%eZ %v" : "{\"time\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v}";
}

}  // namespace

struct Log::State {
  explicit State(const LogOptions& options)
      : level(options.level),
        format(options.format),
        limit(options.repeats, options.interval),
        pool(std::make_shared<spdlog::details::thread_pool>(options.queue, 1)),
        logger(std::make_shared<spdlog::async_logger>("spillway", std::make_shared<FileSink>(options.out), pool,
                                                      spdlog::async_overflow_policy::overrun_oldest)) {
    logger->set_level(spdlog::level::trace);
    logger->set_pattern(pattern(format), spdlog::pattern_time_type::utc);
  }

  // The writing thread ends before the sink it writes to.
  ~State() { pool.reset(); }

  std::atomic<LogLevel> level;
  LogFormat format;
  std::mutex mutex;
  RepeatLimit limit;
  std::shared_ptr<spdlog::details::thread_pool> pool;  // its end waits until the queue is empty
  std::shared_ptr<spdlog::async_logger> logger;
};

Log::Log(const LogOptions& options) : state_(std::make_unique<State>(options)) {}
Log::~Log() = default;

void Log::write(LogLevel level, std::string_view message, Fields fields) {
  if (level < state_->level.load(std::memory_order_relaxed)) return;
  RepeatLimit::Verdict verdict;
  {
    const std::lock_guard lock(state_->mutex);
    verdict = state_->limit.ask(message, steady_now());
  }
  if (!verdict.pass) return;
  const std::string line = state_->format == LogFormat::kText
                               ? text_line(level, message, fields, verdict.suppressed)
                               : json_members(level, message, fields, verdict.suppressed);
  state_->logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

void Log::set_level(LogLevel level) { state_->level.store(level, std::memory_order_relaxed); }

std::uint64_t Log::dropped() const { return state_->pool->overrun_counter(); }

}  // namespace spillway::telemetry
