#include "ports/fake/fake_outbox_store.h"

#include <algorithm>

namespace spillway::ports {

using base::ErrorClass;

template <typename Work>
auto FakeOutboxStore::call(FakeCall kind, Work&& work) -> decltype(work()) {
  if (!reachable_) return base::fail(ErrorClass::kUnavailable, "the outbox is away");
  const auto found = faults_.find(kind);
  if (found == faults_.end()) return work();
  const Fault fault = found->second;
  if (--found->second.times == 0) faults_.erase(found);
  if (fault.done) work();
  return std::unexpected(fault.error);
}

void FakeOutboxStore::fail_next(FakeCall call, base::Error error, bool done, std::size_t times) {
  if (times > 0) faults_[call] = {std::move(error), done, times};
}

std::int64_t FakeOutboxStore::insert(const FakeRow& row) {
  const std::int64_t seq = outbox_.insert(row, now_);
  outbox_.commit(seq);
  return seq;
}

base::Status FakeOutboxStore::check_fence(const Fence& fence) const {
  if (fence.incarnation != incarnation()) return base::fail(ErrorClass::kLostPlace, "another incarnation");
  if (!lease_ || lease_->lease.holder != fence.holder || lease_->lease.epoch != fence.epoch) {
    return base::fail(ErrorClass::kLostLease, "the lease is no longer held with this epoch");
  }
  return {};
}

void FakeOutboxStore::take_lease(const base::Uuid& holder, const std::string& holder_name,
                                 std::chrono::milliseconds ttl) {
  if (!lease_) lease_ = HeldLease{};
  if (lease_->lease.holder != holder) ++lease_->lease.epoch;
  lease_->lease.holder = holder;
  lease_->holder_name = holder_name;
  lease_->expires_at = now_ + std::chrono::microseconds(ttl).count();
}

void FakeOutboxStore::lose_lease(const base::Uuid& to, std::chrono::milliseconds ttl) {
  take_lease(to, "somebody else", ttl);
}

LeaseState FakeOutboxStore::lease_state() const {
  LeaseState state;
  if (!lease_) return state;
  state.lease = lease_->lease;
  state.holder_name = lease_->holder_name;
  state.expires_in = std::chrono::milliseconds((lease_->expires_at - now_) / 1000);
  return state;
}

Controls FakeOutboxStore::controls() const {
  Controls controls;
  Pause& pause = controls.pause;
  for (const Lane lane : {Lane::kBacklog, Lane::kAll}) {
    const auto found = pauses_.find(lane);
    if (found == pauses_.end() || !found->second.paused) continue;
    (lane == Lane::kAll ? pause.all : pause.backlog) = true;
    pause.reason = found->second.reason;
    pause.who = found->second.who;
    pause.since_unix_micros = found->second.since;
  }
  if (override_ && override_->until > now_) {
    controls.limit = override_->limit;
    controls.limit->remaining =
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(override_->until - now_));
  }
  return controls;
}

class FakeReader final : public OutboxReader {
 public:
  explicit FakeReader(FakeOutboxStore& store) : store_(store) {}

  base::Result<model::Page> read(const model::Position& from, const std::string& incarnation,
                                 ReadLimits limits) override {
    return store_.call(FakeCall::kRead, [&]() -> base::Result<model::Page> {
      if (incarnation != store_.incarnation()) return base::fail(ErrorClass::kLostPlace, "another incarnation");
      auto page = store_.outbox_.read(from, limits, store_.now_);
      if (!page) return base::fail(ErrorClass::kLostPlace, "this position was not made here");
      return std::move(*page);
    });
  }

  base::Result<model::Page> read_again(std::span<const std::int64_t> seqs, const std::string& incarnation,
                                       ReadLimits limits) override {
    return store_.call(FakeCall::kReadAgain, [&]() -> base::Result<model::Page> {
      if (incarnation != store_.incarnation()) return base::fail(ErrorClass::kLostPlace, "another incarnation");
      return store_.outbox_.read_again(seqs, limits, store_.now_);
    });
  }

  base::Result<model::Page> read_keys(std::span<const KeyAfter> keys, std::span<const model::Position> places,
                                      const std::string& incarnation, ReadLimits limits) override {
    return store_.call(FakeCall::kReadKeys, [&]() -> base::Result<model::Page> {
      if (incarnation != store_.incarnation()) return base::fail(ErrorClass::kLostPlace, "another incarnation");
      auto page = store_.outbox_.read_keys(keys, places, limits, store_.now_);
      if (!page) return base::fail(ErrorClass::kLostPlace, "a position was not made here");
      return std::move(*page);
    });
  }

  base::Result<std::vector<std::size_t>> keys_behind(std::span<const KeyBefore> keys,
                                                     std::span<const model::Position> places,
                                                     const std::string& incarnation) override {
    return store_.call(FakeCall::kKeysBehind, [&]() -> base::Result<std::vector<std::size_t>> {
      if (incarnation != store_.incarnation()) return base::fail(ErrorClass::kLostPlace, "another incarnation");
      auto found = store_.outbox_.keys_behind(keys, places);
      if (!found) return base::fail(ErrorClass::kLostPlace, "a position was not made here");
      return std::move(*found);
    });
  }

 private:
  FakeOutboxStore& store_;
};

class FakeLedger final : public OutboxLedger {
 public:
  explicit FakeLedger(FakeOutboxStore& store) : store_(store) {}

  base::Result<Loaded> load() override {
    return store_.call(FakeCall::kLoad, [&]() -> base::Result<Loaded> {
      return Loaded{store_.outbox_.progress(), store_.incarnation(), store_.now_};
    });
  }

  base::Status save(const Fence& fence, const SaveRequest& request) override {
    return fenced<void>(FakeCall::kSave, fence, [&] { store_.outbox_.save(request, store_.now_); });
  }

  base::Status record(const Fence& fence, std::span<const model::Settlement> settlements) override {
    return fenced<void>(FakeCall::kRecord, fence, [&] {
      for (const auto& settlement : settlements) store_.outbox_.record(settlement, store_.now_);
    });
  }

  base::Status finish(const Fence& fence, std::span<const std::int64_t> seqs) override {
    return fenced<void>(FakeCall::kFinish, fence, [&] {
      for (std::int64_t seq : seqs) store_.outbox_.finish(seq);
    });
  }

  base::Result<std::int64_t> clean_up(const Fence& fence, std::chrono::seconds keep, std::size_t rows) override {
    return fenced<std::int64_t>(FakeCall::kCleanUp, fence,
                                [&] { return store_.outbox_.clean_up(keep, rows, store_.now_); });
  }

  base::Result<std::vector<model::Settlement>> released(std::int64_t after, std::size_t limit) override {
    return store_.call(FakeCall::kReleased, [&]() -> base::Result<std::vector<model::Settlement>> {
      return store_.outbox_.released(after, limit);
    });
  }

  base::Result<std::int64_t> release_keys(const Fence& fence, std::span<const std::string> keys) override {
    return fenced<std::int64_t>(FakeCall::kReleaseKeys, fence, [&] { return store_.outbox_.release_keys(keys); });
  }

  base::Result<std::vector<HeldKey>> held_keys(Holds holds) override {
    return store_.call(FakeCall::kHeldKeys,
                       [&]() -> base::Result<std::vector<HeldKey>> { return store_.outbox_.held_keys(holds); });
  }

 private:
  template <typename Value, typename Work>
  base::Result<Value> fenced(FakeCall kind, const Fence& fence, Work&& work) {
    return store_.call(kind, [&]() -> base::Result<Value> {
      if (auto held = store_.check_fence(fence); !held) return std::unexpected(held.error());
      if constexpr (std::is_void_v<Value>) {
        work();
        return {};
      } else {
        return work();
      }
    });
  }

  FakeOutboxStore& store_;
};

class FakeLeaseSession final : public LeaseSession {
 public:
  explicit FakeLeaseSession(FakeOutboxStore& store) : store_(store) {}

  base::Result<LeaseState> acquire(const base::Uuid& holder, const std::string& holder_name,
                                   std::chrono::milliseconds ttl) override {
    return store_.call(FakeCall::kAcquire, [&]() -> base::Result<LeaseState> {
      const auto& held = store_.lease_;
      const bool free = !held || held->lease.holder == base::Uuid{} || held->lease.holder == holder ||
                        held->expires_at <= store_.now_;
      if (free) store_.take_lease(holder, holder_name, ttl);
      LeaseState state = store_.lease_state();
      state.mine = free;
      return state;
    });
  }

  base::Status renew(const Lease& lease, std::chrono::milliseconds ttl) override {
    return store_.call(FakeCall::kRenew, [&]() -> base::Status {
      if (!is_held(lease)) return base::fail(ErrorClass::kLostLease, "the lease is no longer held with this epoch");
      store_.lease_->expires_at = store_.now_ + std::chrono::microseconds(ttl).count();
      return {};
    });
  }

  base::Status release(const Lease& lease) override {
    return store_.call(FakeCall::kRelease, [&]() -> base::Status {
      if (!is_held(lease)) return {};
      store_.lease_->lease.holder = {};
      store_.lease_->holder_name.clear();
      store_.lease_->expires_at = 0;
      return {};
    });
  }

 private:
  bool is_held(const Lease& lease) const {
    return store_.lease_ && store_.lease_->lease.holder == lease.holder && store_.lease_->lease.epoch == lease.epoch;
  }

  FakeOutboxStore& store_;
};

class FakeOperatorSession final : public OperatorSession {
 public:
  explicit FakeOperatorSession(FakeOutboxStore& store) : store_(store) {}

  base::Result<Figures> figures() override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Result<Figures> {
      Figures figures = store_.outbox_.figures(store_.now_);
      if (store_.lease_) figures.lease = store_.lease_state();
      Controls controls = store_.controls();
      figures.pause = std::move(controls.pause);
      figures.limit = std::move(controls.limit);
      return figures;
    });
  }

  base::Status pause(Lane lane, const std::string& reason, const std::string& who) override {
    return set_pause(lane, true, reason, who);
  }
  base::Status resume(Lane lane, const std::string& reason, const std::string& who) override {
    return set_pause(lane, false, reason, who);
  }

  base::Status set_override(const OverrideRequest& request) override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Status {
      if (auto fit = check(request); !fit) return fit;
      store_.override_ = {{request.max_total, request.reason, request.who, store_.now_, request.lasts},
                          store_.now_ + std::chrono::microseconds(request.lasts).count()};
      return {};
    });
  }
  base::Status clear_override(const std::string&, const std::string&) override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Status {
      store_.override_.reset();
      return {};
    });
  }
  base::Result<Controls> controls() override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Result<Controls> { return store_.controls(); });
  }

  base::Result<std::vector<model::Settlement>> settlements(const SettlementFilter& filter) override {
    return store_.call(FakeCall::kOperator,
                       [&]() -> base::Result<std::vector<model::Settlement>> { return store_.outbox_.select(filter); });
  }

  base::Result<model::Page> settled_row(const base::Uuid& id) override {
    return store_.call(FakeCall::kOperator,
                       [&]() -> base::Result<model::Page> { return store_.outbox_.settled_row(id, store_.now_); });
  }

  base::Result<std::optional<Whereabouts>> whereabouts(const base::Uuid& id) override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Result<std::optional<Whereabouts>> {
      return store_.outbox_.whereabouts(id, store_.now_);
    });
  }

  base::Result<std::int64_t> resolve(const SettlementFilter& filter, model::Verdict verdict, const std::string& reason,
                                     const std::string& who) override {
    return store_.call(FakeCall::kOperator, [&]() -> base::Result<std::int64_t> {
      if (verdict != model::Verdict::kPublish && verdict != model::Verdict::kDiscard) {
        return base::fail(ErrorClass::kRejected, "a person can publish or discard an event, nothing else");
      }
      return store_.outbox_.resolve(filter, verdict, reason, who, store_.now_);
    });
  }

 private:
  base::Status set_pause(Lane lane, bool paused, const std::string& reason, const std::string& who) {
    return store_.call(FakeCall::kOperator, [&]() -> base::Status {
      auto& state = store_.pauses_[lane];
      if (state.paused != paused) state.since = store_.now_;
      state.paused = paused;
      state.reason = reason;
      state.who = who;
      return {};
    });
  }

  FakeOutboxStore& store_;
};

class FakeTriageSession final : public TriageSession {
 public:
  explicit FakeTriageSession(FakeOutboxStore& store) : store_(store) {}

  base::Status check(const Predicate&) override {
    return store_.call(FakeCall::kTriage, []() -> base::Status { return {}; });
  }

  base::Result<Matches> matches(const Predicate& predicate, std::span<const AskedRow> rows) override {
    return store_.call(FakeCall::kTriage, [&]() -> base::Result<Matches> {
      store_.rows_asked_ += rows.size();
      Matches found;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto holds = store_.query_(predicate, rows[i]);
        if (!holds) {
          found.failed.push_back({i, holds.error().message});
        } else if (*holds) {
          found.matched.push_back(i);
        }
      }
      return found;
    });
  }

  base::Result<std::vector<std::size_t>> newer_for_key(std::span<const AskedRow> rows) override {
    return store_.call(FakeCall::kTriage, [&]() -> base::Result<std::vector<std::size_t>> {
      store_.rows_asked_ += rows.size();
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (store_.outbox_.has_newer(rows[i])) found.push_back(i);
      }
      return found;
    });
  }

 private:
  FakeOutboxStore& store_;
};

base::Result<std::vector<std::string>> FakeOutboxStore::inspect() {
  if (!reachable_) return base::fail(ErrorClass::kUnavailable, "the outbox is away");
  return std::vector<std::string>{};
}

std::unique_ptr<OutboxReader> FakeOutboxStore::open_reader() { return std::make_unique<FakeReader>(*this); }
std::unique_ptr<OutboxLedger> FakeOutboxStore::open_ledger() { return std::make_unique<FakeLedger>(*this); }
std::unique_ptr<LeaseSession> FakeOutboxStore::open_lease() { return std::make_unique<FakeLeaseSession>(*this); }
std::unique_ptr<OperatorSession> FakeOutboxStore::open_operator() {
  return std::make_unique<FakeOperatorSession>(*this);
}
std::unique_ptr<TriageSession> FakeOutboxStore::open_triage() { return std::make_unique<FakeTriageSession>(*this); }

}  // namespace spillway::ports
