// A relay between FakeOutboxStore and FakeSink with every fault at hand, and the promises checked after each step.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ports/fake/fake_outbox_store.h"
#include "ports/fake/fake_sink.h"
#include "relay/relay.h"

namespace spillway::relay {

class FaultRig {
 public:
  explicit FaultRig(const RelayOptions& options) : options_(options) { restart(); }

  // ---- what happens ----
  // Creates it, or lets it grow.
  void topic(const std::string& name, std::int32_t partitions = 4) {
    const auto known = topics_.find(name);
    if (known == topics_.end() ? !inserted_.empty() : partitions > known->second) unsteady_.insert(name);
    if (known != topics_.end()) partitions = std::max(partitions, known->second);
    topics_[name] = partitions;
    sink->create_topic(name, partitions);
    tell("topic " + name + " " + std::to_string(partitions));
  }
  void drop_topic(const std::string& name) {
    tell("drop " + name);
    topics_.erase(name);
    unsteady_.insert(name);
    dropped_.insert(name);
    sink->drop_topic(name);
    std::erase_if(last_, [&](const auto& entry) { return std::get<0>(entry.first) == name; });
  }
  void refuse_topic(const std::string& name) {
    tell("refuse topic " + name);
    unsteady_.insert(name);
    sink->refuse_topic(name, "no right to write");
  }

  std::int64_t insert(const std::string& key, const std::string& topic = "events", std::size_t padding = 0,
                      bool commit = true) {
    ports::FakeRow row{.aggregate_type = topic, .aggregate_id = key};
    row.payload = std::to_string(inserted_.size() + 1) + std::string(padding, ' ');
    const std::int64_t seq = store.insert_open(row);
    inserted_.push_back({seq, key, false, false});
    tell("insert " + std::to_string(seq) + " " + key + " " + topic);
    if (commit) this->commit(seq);
    return seq;
  }
  void commit(std::int64_t seq) {
    tell("commit " + std::to_string(seq));
    store.commit(seq);
    at(seq).committed = true;
  }
  // Somebody deletes the row, finished or not. Where it is sent all the same, from memory, it has no order any more:
  // what follows looks for it in the table.
  void remove(std::int64_t seq) {
    tell("remove " + std::to_string(seq));
    exempt_.insert(seq);
    store.erase(seq);
    at(seq).removed = true;
  }
  std::size_t inserted() const { return inserted_.size(); }
  std::int64_t seq_of(std::size_t number) const { return inserted_[number - 1].seq; }
  std::vector<std::int64_t> open_transactions() const {
    std::vector<std::int64_t> open;
    for (const Inserted& row : inserted_) {
      if (!row.committed && !row.removed) open.push_back(row.seq);
    }
    return open;
  }

  // Kill -9 and a new start: what the producer had queued is gone.
  void restart() {
    tell("restart");
    sink = std::make_unique<ports::FakeSink>();
    sink->on_stored([this](const ports::StoredRecord& record) { arrive(record); });
    for (const auto& [name, partitions] : topics_) sink->create_topic(name, partitions);
    refuse(refusing_);
    double (*half)() = [] { return 0.5; };
    relay = std::make_unique<Relay>(*Route::make({.topic = "{aggregatetype}"}), options_, *sink, half);
    read_.reset();
    ledger_.reset();
    repeats_allowed = true;
    take_lease();
  }
  void take_lease() {
    tell("take lease");
    store.lose_lease(kMe, std::chrono::hours(1000));
    relay->lease_held(store.open_lease()->acquire(kMe, "", std::chrono::hours(1000))->lease, now);
  }
  // The broker refuses these for good, by number.
  void refuse(std::set<int> numbers) {
    tell("refuse " + std::to_string(numbers.size()));
    refusing_ = std::move(numbers);
    sink->reject_if([this](const ports::StoredRecord& record) -> std::optional<std::string> {
      const int number = std::stoi(*record.value);
      if (!refusing_.contains(number)) return std::nullopt;
      exempt_.insert(seq_of(static_cast<std::size_t>(number)));
      return "refused";
    });
  }
  // A person lets the first open row that was set aside go, or gives it up.
  void resolve_one(model::Verdict verdict) {
    tell(std::string("resolve ") + to_string(verdict));
    const auto open = store.open_operator()->settlements({});
    for (const model::Settlement& settlement : *open) {
      if (settlement.verdict != model::Verdict::kSetAside) continue;
      (void)store.open_operator()->resolve({.ids = {settlement.id}}, verdict, "asked for", "ann");
      return;
    }
  }

  // ---- one turn, in pieces ----
  void ask() {
    relay->pump(now);
    if (!read_) read_ = relay->next_read(now);
    if (!ledger_) ledger_ = relay->next_ledger(now);
  }
  // Answers reads until one of this kind is out.
  void ask_until_out(ReadRequest::Kind kind) {
    for (ask(); !read_ || read_->kind != kind; ask()) {
      answer_read();
      pass(std::chrono::milliseconds(1));
    }
  }
  void answer_read() {
    const auto request = std::exchange(read_, std::nullopt);
    if (!request) return;
    if (request->kind == ReadRequest::Kind::kKeysBehind) return relay->keys_behind_done(look_up(*request), now);
    auto page = perform_read(*request);
    auto judgements = page && request->judge ? judge(*page) : std::vector<ports::Judgement>{};
    relay->read_done(std::move(page), now, std::move(judgements));
  }
  void answer_ledger() {
    if (const auto request = std::exchange(ledger_, std::nullopt)) relay->ledger_done(perform(*request), now);
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
  void pass(base::Duration time) {
    now += time;
    store.set_now(store.now() + std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  }

  // ---- what came of it ----
  // The rows of a key, by number, in the order in which they first arrived.
  std::vector<std::size_t> firsts(const std::string& key) const {
    std::vector<std::size_t> firsts;
    std::set<std::size_t> seen;
    for (const std::size_t number : arrivals) {
      if (inserted_[number - 1].key == key && seen.insert(number).second) firsts.push_back(number);
    }
    return firsts;
  }
  // How many rows the saved place has passed before the first that it has not.
  std::size_t passed() {
    const std::set<std::int64_t> waiting = beyond_saved();
    std::size_t passed = 0;
    while (passed < inserted_.size() && !waiting.contains(inserted_[passed].seq)) ++passed;
    return passed;
  }
  // What the ledger holds, by seq.
  std::map<std::int64_t, model::Settlement> recorded() {
    std::map<std::int64_t, model::Settlement> found;
    const auto all = store.open_operator()->settlements({.open_only = false, .limit = 100'000});
    for (const model::Settlement& settlement : *all) found.emplace(settlement.seq, settlement);
    return found;
  }

  // ---- the promises: what is wrong, if anything ----
  std::optional<std::string> broken_now() {
    if (relay->outbound().in_flight() > options_.outbound.events_in_flight) return "too many in flight";
    if (relay->outbound().bytes_in_flight() > options_.outbound.bytes_in_flight + kLargest) return "too much in flight";
    if (inverted_) return inverted_;
    if (other_verdict_) return other_verdict_;
    if (!repeats_allowed && repeated_) return "a row was sent twice without a fault";
    if (checked_ == store.saved()) return std::nullopt;
    checked_ = store.saved();
    const std::set<std::int64_t> waiting = beyond_saved();
    if (in_two_lanes_) return in_two_lanes_;
    const auto settled = recorded();
    for (std::size_t number = 1; number <= inserted_.size(); ++number) {
      if (!has_to_arrive(number) || waiting.contains(seq_of(number))) continue;
      if (!settled.contains(seq_of(number))) return "the saved place passes row " + std::to_string(number);
    }
    return std::nullopt;
  }

  std::optional<std::string> broken_at_the_end() {
    const auto figures = store.open_operator()->figures();
    if (figures->waiting_rows > 0) return "the saved place stays behind";
    const auto settled = recorded();
    for (const auto& [seq, settlement] : settled) {
      if (settlement.state == model::SettlementState::kDone) continue;
      const bool for_a_person = settlement.verdict == model::Verdict::kReconcile;
      if (!for_a_person) return "row " + std::to_string(seq) + " stays open in the ledger";
      if (settlement.state == model::SettlementState::kReleased) return "a reconciled row never got to its topic";
    }
    for (std::size_t number = 1; number <= inserted_.size(); ++number) {
      if (!has_to_arrive(number)) continue;
      const auto found = settled.find(seq_of(number));
      const bool given_up = found != settled.end() && (found->second.verdict == model::Verdict::kDiscard ||
                                                       found->second.verdict == model::Verdict::kReconcile);
      if (!given_up) return "row " + std::to_string(number) + " never arrived";
    }
    return std::nullopt;
  }

  static constexpr std::size_t kLargest = 41'000;

  ports::FakeOutboxStore store;
  std::unique_ptr<ports::FakeSink> sink;
  std::unique_ptr<Relay> relay;
  base::Instant now{std::chrono::seconds(1000)};
  std::optional<base::Error> read_fault;
  std::optional<base::Error> ledger_fault;
  // What the rules say about a row, by number; they may say something else tomorrow.
  std::function<model::Verdict(std::size_t)> rules = [](std::size_t) { return model::Verdict::kPublish; };
  std::vector<std::size_t> arrivals;            // numbers of the rows, in order, again each time one was sent again
  std::vector<ports::StoredRecord> reconciled;  // what came to the reconcile topic
  bool answers_lost = false;                    // ledger_fault hides that the call took effect
  bool repeats_allowed = false;
  std::string story;  // what was done, for a run that fails

 private:
  void tell(const std::string& line) { story += line + "\n"; }

  static constexpr base::Uuid kMe{{1}};
  static constexpr const char* kReconcileTopic = "outbox.reconcile";

  struct Inserted {
    std::int64_t seq;
    std::string key;
    bool committed;
    bool removed;
  };

  Inserted& at(std::int64_t seq) { return *std::ranges::find(inserted_, seq, &Inserted::seq); }
  bool has_to_arrive(std::size_t number) const {
    const Inserted& row = inserted_[number - 1];
    return row.committed && !row.removed && !arrived_.contains(number);
  }

  // First deliveries of a key to one partition follow the order of the table. Exempt are rows that were refused or set
  // aside, topics that were deleted while records were on their way to them, and, where a topic came, went or grew,
  // those sent again after a fault: what was decided about them may not have been recorded, and their partition may be
  // another one.
  void arrive(const ports::StoredRecord& record) {
    const auto number = static_cast<std::size_t>(std::stoi(*record.value));
    tell("arrived " + std::to_string(number) + " " + record.topic + std::to_string(record.partition));
    if (record.topic == kReconcileTopic) {
      reconciled.push_back(record);
      if (verdict_of(seq_of(number)) != model::Verdict::kReconcile) other_verdict_ = "nobody reconciled what arrived";
      return;
    }
    arrivals.push_back(number);
    // After a fault it may have been on its way as a live one before it was judged.
    if (!repeats_allowed && verdict_of(seq_of(number)) == model::Verdict::kDiscard &&
        !exempt_.contains(seq_of(number))) {
      other_verdict_ = "row " + std::to_string(number) + " was discarded and arrived all the same";
    }
    if (!arrived_.insert(number).second) {
      repeated_ = true;
      return;
    }
    if (exempt_.contains(seq_of(number)) || dropped_.contains(record.topic) ||
        (unsteady_.contains(record.topic) && repeats_allowed))
      return;
    std::size_t& before = last_[{record.topic, record.partition, *record.key}];
    if (before > number) inverted_ = std::to_string(before) + " arrived before " + std::to_string(number);
    before = number;
  }

  std::optional<model::Verdict> verdict_of(std::int64_t seq) {
    const auto all = recorded();
    const auto found = all.find(seq);
    return found == all.end() ? std::nullopt : std::optional(found->second.verdict);
  }

  std::vector<ports::Judgement> judge(const model::Page& page) {
    std::vector<ports::Judgement> judgements;
    for (std::size_t row = 0; row < page.rows.size(); ++row) {
      const model::Verdict verdict = rules(static_cast<std::size_t>(std::stoi(std::string(*page.rows[row].payload))));
      if (verdict != model::Verdict::kPublish) judgements.push_back({row, verdict, "rule", "because"});
    }
    return judgements;
  }

  // Rows for which it is on record that they are to be published.
  std::set<std::int64_t> judged_to_publish() {
    std::set<std::int64_t> rows;
    for (const ports::Interval& interval : store.saved().backlog) {
      if (!interval.judged) continue;
      const auto page =
          store.open_reader()->read({interval.at.frame, std::nullopt}, store.open_ledger()->load()->incarnation,
                                    {.rows = 100'000, .bytes = 1 << 30});
      for (const model::Row& row : page->rows) {
        if (row.seq <= *interval.judged) rows.insert(row.seq);
      }
    }
    return rows;
  }

  std::set<std::int64_t> beyond_saved() {
    std::set<std::int64_t> rows;
    const auto loaded = store.open_ledger()->load();
    const auto reader = store.open_reader();
    for (const ports::Interval& interval : loaded->progress.backlog) {
      for (model::Position from = interval.at; !from.frame.to.empty();) {
        const auto page = reader->read(from, loaded->incarnation, {});
        for (const model::Row& row : page->rows) {
          if (!rows.insert(row.seq).second) in_two_lanes_ = "row " + std::to_string(row.seq) + " is in two lanes";
        }
        from = page->next;
      }
    }
    model::Position from = loaded->progress.live;
    for (;;) {
      const auto page = reader->read(from, loaded->incarnation, {});
      for (const model::Row& row : page->rows) {
        if (!rows.insert(row.seq).second) in_two_lanes_ = "row " + std::to_string(row.seq) + " is in two lanes";
      }
      if (page->next == from) return rows;
      from = page->next;
    }
  }

  base::Result<std::vector<std::size_t>> look_up(const ReadRequest& request) {
    if (read_fault) return std::unexpected(*read_fault);
    auto found = store.open_reader()->keys_behind(request.keys, request.places, request.incarnation);
    std::string keys = "keys with backlog beyond";
    for (const model::Position& place : request.places) {
      keys += fmt::format(" ({},{}]/{}", place.frame.from, place.frame.to, place.last_seq.value_or(0));
    }
    for (std::size_t index : found.value_or(std::vector<std::size_t>{})) keys += " " + request.keys[index].key;
    tell(keys);
    return found;
  }

  base::Result<model::Page> perform_read(const ReadRequest& request) {
    if (read_fault) return std::unexpected(*read_fault);
    const auto reader = store.open_reader();
    using Kind = ReadRequest::Kind;
    auto page = request.kind == Kind::kPage ? reader->read(request.from, request.incarnation, request.limits)
                : request.kind == Kind::kKeyRows
                    ? reader->read_keys(request.keys_after, request.places, request.incarnation, request.limits)
                    : reader->read_again(request.seqs, request.incarnation, request.limits);
    if (page && !page->rows.empty()) {
      std::string rows = request.kind == Kind::kPage      ? "read"
                         : request.kind == Kind::kKeyRows ? "promote"
                                                          : "read again";
      for (const model::Row& row : page->rows) rows += " " + std::to_string(row.seq);
      tell(rows);
    }
    return page;
  }

  LedgerAnswer perform(const LedgerRequest& request) {
    using Kind = LedgerRequest::Kind;
    LedgerAnswer answer;
    answer.kind = request.kind;
    if (ledger_fault && !answers_lost) {
      answer.status = std::unexpected(*ledger_fault);
      return answer;
    }
    const auto ledger = store.open_ledger();
    const auto take = [&answer](auto result, auto& into) {
      if (result) {
        into = std::move(*result);
      } else {
        answer.status = std::unexpected(result.error());
      }
    };
    switch (request.kind) {
      case Kind::kLoad: take(ledger->load(), answer.loaded); break;
      case Kind::kSave: answer.status = ledger->save(request.fence, request.save); break;
      case Kind::kRecord:
        for (const auto& settlement : request.settlements) {
          const bool ruled = !settlement.rule.empty() && settlement.state != model::SettlementState::kOpen;
          if (ruled && judged_to_publish().contains(settlement.seq) && !verdict_of(settlement.seq)) {
            other_verdict_ = "row " + std::to_string(settlement.seq) + " was to be published, and now is not";
          }
        }
        answer.status = ledger->record(request.fence, request.settlements);
        for (const auto& settlement : request.settlements) {
          tell("record " + std::to_string(settlement.seq) + " " + to_string(settlement.verdict) + ": " +
               settlement.reason);
          if (settlement.verdict == model::Verdict::kSetAside) exempt_.insert(settlement.seq);
        }
        break;
      case Kind::kFinish: answer.status = ledger->finish(request.fence, request.seqs); break;
      case Kind::kReleased: take(ledger->released(0, request.limit), answer.released); break;
      case Kind::kReleaseKeys: take(ledger->release_keys(request.fence, request.keys), answer.count); break;
      case Kind::kHeldKeys: take(ledger->held_keys(request.holds), answer.keys); break;
    }
    if (ledger_fault) answer.status = std::unexpected(*ledger_fault);
    return answer;
  }

  RelayOptions options_;
  std::vector<Inserted> inserted_;  // row number N is at N-1
  std::map<std::string, std::int32_t> topics_;
  std::set<int> refusing_;
  std::set<std::int64_t> exempt_;
  std::set<std::string> unsteady_;
  std::set<std::string> dropped_;
  std::set<std::size_t> arrived_;  // numbers
  std::map<std::tuple<std::string, std::int32_t, std::string>, std::size_t> last_;
  std::optional<std::string> inverted_;
  std::optional<std::string> in_two_lanes_;
  std::optional<std::string> other_verdict_;
  bool repeated_ = false;
  ports::Progress checked_;
  std::optional<ReadRequest> read_;
  std::optional<LedgerRequest> ledger_;
};

}  // namespace spillway::relay
