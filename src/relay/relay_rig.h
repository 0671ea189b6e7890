// A relay between an outbox in memory and a fake broker, driven step by step: for the tests of this folder.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/fake/fake_sink.h"
#include "relay/relay.h"

namespace spillway::relay {

class RelayRig {
 public:
  struct StoredRow {
    std::int64_t seq;
    std::string key;
    std::string topic;
    std::string payload;
  };

  explicit RelayRig(RelayOptions options = {}, RouteOptions route = {.topic = "{aggregatetype}"})
      : options_(options), route_(std::move(route)) {
    restart();
  }

  std::int64_t insert(const std::string& key, const std::string& topic = "events", std::string payload = "x") {
    rows_.push_back({++last_seq_, key, topic, std::move(payload)});
    return last_seq_;
  }

  // Kill -9 and a new start: the broker and the database stay as they are, what the producer had queued is gone.
  void restart() {
    if (sink) previous_ = sink->stored();
    history_.insert(history_.end(), previous_.begin(), previous_.end());
    auto fresh = std::make_unique<ports::FakeSink>();
    sink = std::move(fresh);
    for (const auto& [name, partitions] : topics_) sink->create_topic(name, partitions);
    double (*half)() = [] { return 0.5; };
    relay = std::make_unique<Relay>(*Route::make(route_), options_, *sink, half);
    relay->lease_held({{}, ++epoch_}, now);
    read_.reset();
    ledger_.reset();
  }

  void topic(const std::string& name, std::int32_t partitions = 4) {
    topics_[name] = partitions;
    sink->create_topic(name, partitions);
  }

  void pass(base::Duration time) { now += time; }

  // The pieces of a turn, so that a test can put a fault between any two.
  void ask() {
    relay->pump(now);
    if (!read_) read_ = relay->next_read(now);
    if (!ledger_) ledger_ = relay->next_ledger(now);
  }
  void answer_read() {
    const auto request = std::exchange(read_, std::nullopt);
    if (!request) return;
    if (request->kind == ReadRequest::Kind::kKeysBehind) return relay->keys_behind_done(keys_behind(*request), now);
    relay->read_done(read(*request), now);
  }
  void answer_ledger() {
    if (auto request = std::exchange(ledger_, std::nullopt)) relay->ledger_done(write(*request), now);
  }
  void answer_sink() {
    ports::SinkEvents events;
    sink->drain(events);
    relay->sink_events(events, now);
  }
  void turn() {
    ask();
    answer_read();
    answer_ledger();
    answer_sink();
    pass(std::chrono::milliseconds(1));
  }
  void run(int turns = 400) {
    for (int i = 0; i < turns; ++i) turn();
  }

  // Everything that reached the broker in all lives, in order.
  std::vector<ports::StoredRecord> arrived() const {
    auto all = history_;
    const auto& current = sink->stored();
    all.insert(all.end(), current.begin(), current.end());
    return all;
  }
  // The sequence numbers of a key in order of first arrival; the test payload is the seq where `number` was used.
  std::vector<std::string> firsts(const std::string& key) const {
    std::vector<std::string> firsts;
    std::set<std::string> seen;
    for (const auto& record : arrived()) {
      if (record.key == key && seen.insert(*record.value).second) firsts.push_back(*record.value);
    }
    return firsts;
  }
  const ports::Progress& saved() const { return saved_; }
  std::int64_t saved_seq() const { return saved_.live.last_seq.value_or(0); }
  std::map<std::int64_t, model::Settlement>& settled() { return settled_; }

  std::optional<base::Error> read_fault;
  std::optional<base::Error> ledger_fault;
  std::unique_ptr<ports::FakeSink> sink;
  std::unique_ptr<Relay> relay;
  base::Instant now{std::chrono::seconds(1000)};

 private:
  void put(model::Page& page, const StoredRow& stored) {
    model::Row row;
    row.seq = stored.seq;
    row.aggregate_type = page.arena.copy(stored.topic);
    row.aggregate_id = page.arena.copy(stored.key);
    row.type = "made";
    row.payload = page.arena.copy(stored.payload);
    page.rows.push_back(row);
  }

  base::Result<std::vector<std::size_t>> keys_behind(const ReadRequest& request) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < request.keys.size(); ++i) {
      const bool behind = std::ranges::any_of(rows_, [&](const StoredRow& row) {
        return row.key == request.keys[i].key && row.seq < request.keys[i].before && !settled_.contains(row.seq) &&
               std::ranges::any_of(request.places, [&](const model::Position& place) {
                 return row.seq > place.last_seq.value_or(0) && row.seq <= std::stoll(place.frame.to);
               });
      });
      if (behind) found.push_back(i);
    }
    return found;
  }

  base::Result<model::Page> read(const ReadRequest& request) {
    if (read_fault) return std::unexpected(*read_fault);
    model::Page page;
    if (request.kind == ReadRequest::Kind::kAgain) {
      for (const StoredRow& row : rows_) {
        if (std::binary_search(request.seqs.begin(), request.seqs.end(), row.seq)) put(page, row);
      }
      return page;
    }
    const std::int64_t after = request.from.last_seq.value_or(0);
    for (const StoredRow& row : rows_) {
      if (row.seq <= after || settled_.contains(row.seq)) continue;
      if (page.rows.size() == request.limits.rows) {
        page.more = true;
        break;
      }
      put(page, row);
    }
    page.next = request.from;
    if (!page.rows.empty()) page.next.last_seq = page.rows.back().seq;
    return page;
  }

  LedgerAnswer write(const LedgerRequest& request) {
    using Kind = LedgerRequest::Kind;
    LedgerAnswer answer;
    answer.kind = request.kind;
    if (ledger_fault) {
      answer.status = std::unexpected(*ledger_fault);
      return answer;
    }
    switch (request.kind) {
      case Kind::kLoad: answer.loaded = {saved_, "life 1"}; break;
      case Kind::kSave: saved_ = request.save.progress; break;
      case Kind::kRecord:
        for (const auto& s : request.settlements) settled_[s.seq] = s;
        break;
      case Kind::kFinish:
        for (std::int64_t seq : request.seqs) settled_.at(seq).state = model::SettlementState::kDone;
        break;
      case Kind::kReleased:
        for (const auto& [seq, s] : settled_) {
          if (s.state == model::SettlementState::kReleased) answer.released.push_back(s);
        }
        break;
      case Kind::kReleaseKeys:
        for (auto& [seq, s] : settled_) {
          if (s.key && std::ranges::find(request.keys, *s.key) != request.keys.end() &&
              s.verdict == model::Verdict::kStopped && s.state == model::SettlementState::kOpen) {
            s.state = model::SettlementState::kReleased;
            ++answer.count;
          }
        }
        break;
      case Kind::kHeldKeys:
        for (const auto& [seq, s] : settled_) {
          if (s.state == model::SettlementState::kDone || !s.key) continue;
          auto at = std::ranges::find(answer.keys, *s.key, &ports::HeldKey::key);
          if (at == answer.keys.end()) at = answer.keys.insert(at, {*s.key, seq});
          if (s.state != model::SettlementState::kOpen) continue;
          if (!at->first_open) at->first_open = seq;
          at->set_aside = at->set_aside || s.verdict == model::Verdict::kSetAside;
        }
        break;
    }
    return answer;
  }

  RelayOptions options_;
  RouteOptions route_;
  std::vector<StoredRow> rows_;
  std::int64_t last_seq_ = 0;
  std::int64_t epoch_ = 0;
  std::map<std::string, std::int32_t> topics_;
  ports::Progress saved_;
  std::map<std::int64_t, model::Settlement> settled_;
  std::vector<ports::StoredRecord> previous_;
  std::vector<ports::StoredRecord> history_;
  std::optional<ReadRequest> read_;
  std::optional<LedgerRequest> ledger_;
};

}  // namespace spillway::relay
