#include "kafka/kafka_sink.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <utility>

#include "kafka/topic_query.h"

namespace spillway::kafka {
namespace {

using ports::DeliveryOutcome;
using ports::SendOutcome;
using ports::TopicState;

// Enough for one wake-up; what is left keeps the descriptor readable, so the loop gets its turn in between.
constexpr int kEventsPerDrain = 2000;
constexpr int kDebug = 7;  // as syslog
const resilience::BackoffSettings kStartAgain{.base = std::chrono::milliseconds(500),
                                              .factor = 2.0,
                                              .cap = std::chrono::seconds(5),
                                              .jitter = resilience::Jitter::kNone};

// The least that a batch with this one record takes on the wire (record batch format 2, varints of one byte), so that
// nothing is refused here that the broker would take.
constexpr std::size_t kBatchBytes = 61;
std::size_t least_bytes(const ports::Record& record) {
  std::size_t bytes =
      kBatchBytes + 7 + (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
  for (const ports::Header& header : record.headers) bytes += 2 + header.name.size() + header.value.size();
  return bytes;
}

// The most that the record adds to a batch, so that records which fit here fit there.
std::size_t most_bytes(const ports::Record& record) { return least_bytes(record) + 30 + 10 * record.headers.size(); }

void* as_opaque(Outstanding::Slot slot) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(slot)); }

Outstanding::Slot as_slot(void* opaque) {
  return static_cast<Outstanding::Slot>(reinterpret_cast<std::uintptr_t>(opaque));
}

std::size_t as_size(const std::string& text, std::size_t otherwise) {
  std::size_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Null is a tombstone or a missing key; empty is not: librdkafka tells them apart by the pointer alone.
rd_kafka_vu_t bytes_of(rd_kafka_vtype_t type, const std::optional<std::string_view>& bytes) {
  rd_kafka_vu_t vu{};
  vu.vtype = type;
  vu.u.mem.ptr = bytes ? const_cast<char*>(bytes->data() == nullptr ? "" : bytes->data()) : nullptr;
  vu.u.mem.size = bytes ? bytes->size() : 0;
  return vu;
}

}  // namespace

base::Result<std::unique_ptr<KafkaSink>> KafkaSink::create(KafkaSinkSettings settings) {
  auto wakeup = std::make_shared<Wakeup>();
  base::Result<std::shared_ptr<Producer>> producer = Producer::create(settings.properties, wakeup);
  if (!producer) return std::unexpected(producer.error());
  return std::unique_ptr<KafkaSink>(new KafkaSink(std::move(settings), std::move(wakeup), std::move(*producer)));
}

KafkaSink::KafkaSink(KafkaSinkSettings settings, std::shared_ptr<Wakeup> wakeup, std::shared_ptr<Producer> producer)
    : settings_(std::move(settings)),
      batch_bytes_(as_size(effective(settings_.properties, "batch.size"), 1'000'000)),
      wakeup_(std::move(wakeup)),
      producer_(std::move(producer)),
      directory_(std::make_unique<TopicDirectory>(wakeup_)),
      start_backoff_(kStartAgain),
      random_(std::random_device{}() | 1ULL << 32) {
  const std::string codec = effective(settings_.properties, "compression.codec");
  compresses_ = !codec.empty() && codec != "none";
  directory_->use(producer_);
}

KafkaSink::~KafkaSink() {
  release_handles();
  directory_.reset();
  if (producer_) given_up_.push_back(give_up(std::move(producer_)));
  const auto deadline = std::chrono::steady_clock::now() + settings_.destructor_limit;
  for (std::future<void>& gone : given_up_) gone.wait_until(deadline);
}

ports::TopicId KafkaSink::topic_id(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  const auto id = static_cast<ports::TopicId>(topics_.size());
  topics_.emplace_back().name = name;
  ids_.emplace(name, id);
  std::string fault = name_fault(topics_.back().name);
  if (fault.empty()) {
    directory_->watch(id, topics_.back().name);
  } else {
    change(id, {TopicState::kRefused, 0, std::move(fault)});
    wakeup_->signal();
  }
  return id;
}

std::int32_t KafkaSink::partition_for(ports::TopicId id, std::optional<std::string_view> key) {
  const std::int32_t partitions = topics_.at(id).topic.partitions;
  if (key) {
    return rd_kafka_msg_partitioner_murmur2(nullptr, key->data() == nullptr ? "" : key->data(), key->size(), partitions,
                                            nullptr, nullptr);
  }
  // xorshift64 (Marsaglia 2003): spreading load needs no more.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<std::int32_t>((random_ >> 33) % static_cast<std::uint64_t>(partitions));
}

SendOutcome KafkaSink::send(const ports::Record& record, std::uint64_t token) {
  Entry& entry = topics_.at(record.topic);
  if (entry.topic.state != TopicState::kReady || record.partition < 0 || record.partition >= entry.topic.partitions) {
    return SendOutcome::kNotReady;
  }
  if (refused_here(entry, record)) {
    ++figures_.rejected;
    return SendOutcome::kRejected;
  }
  const std::size_t bytes = most_bytes(record);
  if (!producer_ || !broken_.empty() || outstanding_.size() >= settings_.records ||
      (outstanding_.size() > 0 && outstanding_.bytes() + bytes > settings_.bytes)) {
    return SendOutcome::kFull;
  }
  Load& load = entry.load[static_cast<std::size_t>(record.partition)];
  if (partition_full(entry, load, bytes)) return SendOutcome::kPartitionFull;
  const Outstanding::Slot slot =
      outstanding_.add({token, record.topic, record.partition, static_cast<std::uint32_t>(bytes)});
  ++load.records;
  load.bytes += bytes;
  return produce(entry, record, slot);
}

bool KafkaSink::refused_here(const Entry& entry, const ports::Record& record) {
  if (entry.compacted && !record.key) {
    last_reason_ = fmt::format("topic {} is compacted and takes no record without a key", entry.name);
    return true;
  }
  // A compressed record may fit all the same: the broker decides.
  if (!entry.max_bytes || compresses_) return false;
  const std::size_t bytes = least_bytes(record);
  if (bytes <= static_cast<std::size_t>(*entry.max_bytes)) return false;
  last_reason_ = fmt::format("topic {} takes at most {} bytes (max.message.bytes), the record has {}", entry.name,
                             *entry.max_bytes, bytes);
  return true;
}

// A batch consists of outstanding records of one partition, so bounding these bounds it. It matters where the topic's
// limit is below the size of a batch: the broker would refuse whole batches of records that are small enough.
bool KafkaSink::partition_full(const Entry& entry, const Load& load, std::size_t bytes) const {
  if (load.records == 0) return false;
  if (entry.one_by_one > 0) return true;
  return entry.max_bytes && static_cast<std::size_t>(*entry.max_bytes) < batch_bytes_ &&
         load.bytes + bytes > static_cast<std::size_t>(*entry.max_bytes);
}

SendOutcome KafkaSink::produce(Entry& entry, const ports::Record& record, Outstanding::Slot slot) {
  if (entry.handle == nullptr) entry.handle = rd_kafka_topic_new(producer_->handle(), entry.name.c_str(), nullptr);
  std::array<rd_kafka_vu_t, 8> vus{};
  vus[0].vtype = RD_KAFKA_VTYPE_RKT;
  vus[0].u.rkt = entry.handle;
  vus[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  vus[1].u.i32 = record.partition;
  vus[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  vus[2].u.i = RD_KAFKA_MSG_F_COPY;
  vus[3] = bytes_of(RD_KAFKA_VTYPE_KEY, record.key);
  vus[4] = bytes_of(RD_KAFKA_VTYPE_VALUE, record.value);
  vus[5].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
  vus[5].u.i64 = record.unix_millis;
  vus[6].vtype = RD_KAFKA_VTYPE_OPAQUE;
  vus[6].u.ptr = as_opaque(slot);
  std::size_t count = 7;
  rd_kafka_headers_t* headers = nullptr;
  if (!record.headers.empty()) {
    headers = rd_kafka_headers_new(record.headers.size());
    for (const ports::Header& header : record.headers) {
      rd_kafka_header_add(headers, header.name.data(), static_cast<ssize_t>(header.name.size()),
                          header.value.data() == nullptr ? "" : header.value.data(),
                          static_cast<ssize_t>(header.value.size()));
    }
    // One list and not single headers: those are freed twice when a partition does not exist (librdkafka #4628).
    vus[count].vtype = RD_KAFKA_VTYPE_HEADERS;
    vus[count++].u.headers = headers;
  }
  rd_kafka_error_t* error = rd_kafka_produceva(producer_->handle(), vus.data(), count);
  if (error == nullptr) {
    ++figures_.sent;
    return SendOutcome::kQueued;
  }
  if (headers != nullptr) rd_kafka_headers_destroy(headers);
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  rd_kafka_error_destroy(error);
  return not_produced(code, entry, take(slot));
}

SendOutcome KafkaSink::not_produced(int code, Entry& entry, const Outstanding::Entry& record) {
  // After a fatal error the code is that error's, which would read like a fault of this record.
  broken_ = fatal_error();
  if (!broken_.empty()) {
    wakeup_->signal();
    return SendOutcome::kFull;
  }
  switch (code) {
    case RD_KAFKA_RESP_ERR__QUEUE_FULL: return SendOutcome::kFull;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      doubt(record.topic);
      wakeup_->signal();
      return SendOutcome::kNotReady;
    default: break;
  }
  last_reason_ = explain(code, entry.name, record.bytes);
  note_error(code, last_reason_);
  ++figures_.rejected;
  return SendOutcome::kRejected;
}

void KafkaSink::drain(ports::SinkEvents& events) {
  wakeup_->clear();
  if (!producer_ && std::chrono::steady_clock::now() >= next_start_) start_producer();
  take_news();
  serve(events);
  if (producer_ && broken_.empty()) broken_ = fatal_error();
  if (!broken_.empty()) rebuild(events);
  std::ranges::sort(changed_);
  const auto repeated = std::ranges::unique(changed_);
  events.topics.insert(events.topics.end(), changed_.begin(), repeated.begin());
  changed_.clear();
}

void KafkaSink::take_news() {
  for (TopicNews& news : directory_->take()) {
    Entry& entry = topics_[news.id];
    if (news.topic.state == TopicState::kReady) {
      if (news.max_message_bytes) entry.max_bytes = news.max_message_bytes;
      entry.compacted = news.compacted;
      // Never shrinks: records of partitions that are gone are still outstanding.
      const auto partitions = static_cast<std::size_t>(news.topic.partitions);
      entry.load.resize(std::max(entry.load.size(), partitions));
    }
    change(news.id, std::move(news.topic));
  }
}

void KafkaSink::serve(ports::SinkEvents& events) {
  if (!producer_) return;
  for (int served = 0; served < kEventsPerDrain; ++served) {
    rd_kafka_event_t* event = rd_kafka_queue_poll(producer_->events(), 0);
    if (event == nullptr) return;
    serve_event(event, events);
    rd_kafka_event_destroy(event);
  }
  wakeup_->signal();
}

void KafkaSink::serve_event(rd_kafka_op_s* event, ports::SinkEvents& events) {
  switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_DR: serve_reports(event, events); break;
    case RD_KAFKA_EVENT_ERROR: {
      const rd_kafka_resp_err_t code = rd_kafka_event_error(event);
      note_error(code, rd_kafka_event_error_string(event));
      if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) figures_.brokers.brokers_up = 0;
      break;
    }
    case RD_KAFKA_EVENT_STATS: serve_statistics(rd_kafka_event_stats(event)); break;
    case RD_KAFKA_EVENT_LOG: serve_log(event); break;
    default: break;
  }
}

void KafkaSink::serve_log(rd_kafka_op_s* event) {
  const char* facility = nullptr;
  const char* text = nullptr;
  int level = 0;
  if (rd_kafka_event_log(event, &facility, &text, &level) != 0) return;
  const BrokerLine line = broker_line(level, facility, text);
  if (line == BrokerLine::kFailure) {
    const std::optional<BrokerChange> change = outages_.failed(text);
    if (change && settings_.broker_change) settings_.broker_change(*change);
  } else if (settings_.log) {
    settings_.log({line == BrokerLine::kClosed ? kDebug : level, facility, text});
  }
}

void KafkaSink::serve_statistics(std::string_view json) {
  const std::optional<Statistics> statistics = parse_statistics(json);
  if (!statistics) return;
  figures_.brokers = statistics->brokers;
  for (const BrokerChange& change : outages_.up(statistics->up)) {
    if (settings_.broker_change) settings_.broker_change(change);
  }
}

// The reports of one event belong to one batch.
void KafkaSink::serve_reports(rd_kafka_op_s* event, ports::SinkEvents& events) {
  const std::size_t batch = rd_kafka_event_message_count(event);
  while (const rd_kafka_message_t* message = rd_kafka_event_message_next(event)) {
    const Outstanding::Slot slot = as_slot(message->_private);
    const Verdict verdict = judge(message->err);
    if (verdict == Verdict::kLost || (verdict == Verdict::kRefusedRecord && batch > 1)) {
      break_with(verdict, message->err, slot, batch);
      continue;
    }
    const Outstanding::Entry record = take(slot);
    if (Entry& entry = topics_[record.topic]; entry.one_by_one > 0) --entry.one_by_one;
    if (verdict == Verdict::kAcknowledged) {
      ++figures_.acknowledged;
      events.deliveries.push_back({record.token, DeliveryOutcome::kAcknowledged, {}});
    } else {
      events.deliveries.push_back(not_written(verdict, record, message->err));
    }
  }
}

// The record stays outstanding until the rebuild, which hands everything back in the order of sending; librdkafka
// reports what it purges in another order.
void KafkaSink::break_with(Verdict verdict, int code, Outstanding::Slot slot, std::size_t batch) {
  if (!broken_.empty()) return;
  const Outstanding::Entry& record = outstanding_.at(slot);
  Entry& entry = topics_[record.topic];
  if (verdict == Verdict::kRefusedRecord) {
    // Any of the batch may be to blame. Sent again one at a time, the guilty one is refused alone.
    entry.one_by_one = outstanding_.size();
    broken_ = fmt::format("topic {} refused a batch of {} records ({}): they are tried one at a time", entry.name,
                          batch, error_name(code));
  } else {
    // A fatal error purges the queues, and those reports may come first.
    broken_ = fatal_error();
    if (broken_.empty()) broken_ = explain(code, entry.name, record.bytes);
  }
  note_error(code, broken_);
}

ports::Delivery KafkaSink::not_written(Verdict verdict, const Outstanding::Entry& record, int code) {
  std::string reason = explain(code, topics_[record.topic].name, record.bytes);
  note_error(code, reason);
  if (verdict == Verdict::kTopicMissing) {
    doubt(record.topic);
    ++figures_.topic_missing;
    return {record.token, DeliveryOutcome::kTopicMissing, std::move(reason)};
  }
  if (verdict == Verdict::kRefusedTopic) change(record.topic, {TopicState::kRefused, 0, reason});
  ++figures_.rejected;
  return {record.token, DeliveryOutcome::kRejected, std::move(reason)};
}

std::string KafkaSink::fatal_error() const {
  std::array<char, 512> text{};
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(producer_->handle(), text.data(), text.size());
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string() : fmt::format("{} ({})", text.data(), error_name(code));
}

Outstanding::Entry KafkaSink::take(Outstanding::Slot slot) {
  const Outstanding::Entry record = outstanding_.take(slot);
  Load& load = topics_[record.topic].load[static_cast<std::size_t>(record.partition)];
  --load.records;
  load.bytes -= record.bytes;
  return record;
}

void KafkaSink::note_error(int code, std::string text) {
  ++figures_.errors[error_name(code)];
  figures_.last_error = std::move(text);
}

void KafkaSink::change(ports::TopicId id, ports::Topic topic) {
  ports::Topic& known = topics_[id].topic;
  if (known.state != topic.state || known.partitions != topic.partitions) changed_.push_back(id);
  known = std::move(topic);
}

// The topic was there and now a record says that it is not.
void KafkaSink::doubt(ports::TopicId id) {
  if (topics_[id].topic.state != TopicState::kReady) return;
  change(id, {});
  directory_->ask_again(id);
}

void KafkaSink::rebuild(ports::SinkEvents& events) {
  ++figures_.rebuilds;
  events.rebuilt = true;
  events.rebuilt_reason = broken_;
  release_handles();
  producer_->purge();
  serve(events);  // acknowledgements that came in meanwhile
  for (const Outstanding::Entry& record : outstanding_.take_all()) {
    ++figures_.unknown;
    events.deliveries.push_back({record.token, DeliveryOutcome::kUnknown, broken_});
  }
  for (ports::TopicId id = 0; id < topics_.size(); ++id) {
    std::ranges::fill(topics_[id].load, Load{});
    if (topics_[id].topic.state != TopicState::kRefused) change(id, {});
  }
  const std::shared_ptr<Producer> old = std::exchange(producer_, nullptr);
  broken_.clear();
  start_producer();
  std::erase_if(given_up_, [](std::future<void>& gone) {
    return gone.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  given_up_.push_back(give_up(old));
}

void KafkaSink::start_producer() {
  base::Result<std::shared_ptr<Producer>> producer = Producer::create(settings_.properties, wakeup_);
  if (producer) {
    producer_ = std::move(*producer);
    start_backoff_.reset();
  } else {
    figures_.last_error = producer.error().message;
    next_start_ = std::chrono::steady_clock::now() + start_backoff_.next([] { return 0.0; });
  }
  directory_->use(producer_);
}

void KafkaSink::release_handles() {
  for (Entry& entry : topics_) {
    if (entry.handle != nullptr) rd_kafka_topic_destroy(std::exchange(entry.handle, nullptr));
  }
}

KafkaFigures KafkaSink::figures() const {
  KafkaFigures figures = figures_;
  figures.outstanding_records = outstanding_.size();
  figures.outstanding_bytes = outstanding_.bytes();
  return figures;
}

void KafkaSink::provoke_fatal_error(const std::string& reason) {
  if (producer_) {
    rd_kafka_test_fatal_error(producer_->handle(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, reason.c_str());
  }
}

}  // namespace spillway::kafka
