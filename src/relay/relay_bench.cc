// What the relay's own decisions cost a row: pages of 2,000 rows of 256 bytes, a sink that acknowledges at once.
#include <benchmark/benchmark.h>

#include "relay/relay.h"

namespace spillway::relay {
namespace {

class PromptSink final : public ports::Sink {
 public:
  PromptSink() { topic_ = {ports::TopicState::kReady, 6, {}}; }

  ports::TopicId topic_id(std::string_view) override { return 0; }
  const ports::Topic& topic(ports::TopicId) const override { return topic_; }
  const std::string& topic_name(ports::TopicId) const override { return name_; }
  std::int32_t partition_for(ports::TopicId, std::optional<std::string_view> key) override {
    return static_cast<std::int32_t>(key->back() % 6);
  }
  ports::SendOutcome send(const ports::Record&, std::uint64_t token) override {
    sent_.push_back({token, ports::DeliveryOutcome::kAcknowledged, {}});
    return ports::SendOutcome::kQueued;
  }
  const std::string& last_reason() const override { return name_; }
  std::size_t outstanding() const override { return sent_.size(); }
  void drain(ports::SinkEvents& events) override { std::swap(events.deliveries, sent_); }

 private:
  ports::Topic topic_;
  std::string name_ = "events";
  std::vector<ports::Delivery> sent_;
};

model::Page page_of(std::int64_t first, std::size_t rows, const char* headers) {
  static const std::string payload(200, 'x');
  static std::vector<std::string> keys;
  while (keys.size() < rows) keys.push_back("account-" + std::to_string(keys.size()));
  model::Page page;
  page.frame = {"12345678:12345678:", "12349999:12349999:"};
  page.db_now_micros = 1'700'000'000'000'000;
  for (std::size_t i = 0; i < rows; ++i) {
    model::Row row;
    row.seq = first + static_cast<std::int64_t>(i);
    row.aggregate_type = "account";
    row.aggregate_id = keys[i];
    row.type = "account.opened";
    row.payload = payload;
    if (headers != nullptr) row.headers = headers;
    row.created_at = model::Timestamp::at(page.db_now_micros - 1000);
    page.rows.push_back(row);
  }
  page.next = {page.frame, page.rows.back().seq};
  page.more = true;
  return page;
}

void carry(benchmark::State& state, const char* headers) {
  constexpr std::size_t kRows = 2'000;
  PromptSink sink;
  Relay relay(*Route::make({}), {}, sink, [] { return 0.5; });
  base::Instant now{std::chrono::seconds(1000)};
  relay.lease_held({}, now);
  std::int64_t seq = 1;
  ports::SinkEvents events;
  for (auto _ : state) {
    state.PauseTiming();
    model::Page page = page_of(seq, kRows, headers);
    state.ResumeTiming();
    now += std::chrono::milliseconds(5);
    if (const auto request = relay.next_ledger(now)) {
      LedgerAnswer answer;
      answer.kind = request->kind;
      relay.ledger_done(answer, now);
    }
    if (!relay.next_read(now)) continue;
    seq += kRows;
    relay.read_done(std::move(page), now);
    events.clear();
    sink.drain(events);
    relay.sink_events(events, now);
  }
  state.SetItemsProcessed(relay.counters().published);
}

void BM_PlainRows(benchmark::State& state) { carry(state, nullptr); }
BENCHMARK(BM_PlainRows);

void BM_RowsWithHeaders(benchmark::State& state) {
  carry(state, R"({"source": "ledger", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})");
}
BENCHMARK(BM_RowsWithHeaders);

}  // namespace
}  // namespace spillway::relay
