#include "postgres/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "postgres/settlement_columns.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

constexpr std::size_t kSpansKept = 64;
// Rows looked at by one search step: some 100 ms.
constexpr std::int64_t kSearchStep = 500'000;
// Values of seq that one page of a large frame may walk over to find its rows: also some 100 ms where none belong.
constexpr std::int64_t kWalk = 100'000;

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::string xid_array(const std::vector<std::uint64_t>& xids) {
  return fmt::format("'{{{}}}'::xid8[]", fmt::join(xids, ","));
}

base::Error unreadable(const std::string& text) {
  return {ErrorClass::kMisconfigured, fmt::format("a saved position holds '{}', which is no snapshot", text)};
}

}  // namespace

Reader::Reader(ConnectOptions connect, std::string outbox, TableLayout layout)
    : fetch_(std::move(connect), std::move(outbox), layout), layout_(std::move(layout)), table_(layout_.qualified()) {}

base::Result<model::Page> Reader::read(const model::Position& from, const std::string& incarnation,
                                       ports::ReadLimits limits) {
  if (fetch_.expect(incarnation)) spans_.clear();
  if (!from.frame.to.empty()) return read_closed(from, limits);
  const auto since = parse_snapshot(from.frame.from);
  if (!since) return std::unexpected(unreadable(from.frame.from));
  model::Frame frozen;
  auto page = read_open(from, *since, limits, frozen);
  if (!page) return std::unexpected(page.error());
  if (*page) return std::move(**page);
  return read_closed({frozen, std::nullopt}, limits);
}

// Everything visible now that `since` does not see. Empty where that is more than a page: `frozen` is then the frame.
base::Result<std::optional<model::Page>> Reader::read_open(const model::Position& from, const Snapshot& since,
                                                           ports::ReadLimits limits, model::Frame& frozen) {
  // One more than a page tells a large frame from a small one. None at all also freezes it, for less.
  const std::size_t rows = fetch_.row_limit(limits);
  const std::size_t ask = expect_large_ ? 0 : rows + 1;
  const std::string tx = identifier(layout_.tx);
  const std::string seq = identifier(layout_.seq);
  const std::string names = fmt::format("(select * from {} o where o.{} >= '{}'::xid8{} order by o.{}, o.{} limit {})",
                                        table_, identifier(layout_.tx), since.xmax, fetch_.not_settled("o", ""),
                                        identifier(layout_.tx), identifier(layout_.seq), ask);
  std::string select = fmt::format("select @columns@ from {} o", names);
  if (!since.running.empty()) {
    // A range of one id, not `=`: rows then come in order from the index on (tx, seq) alone. With `=` the primary key
    // gives that order too, and after ANALYZE has seen a few ids only the planner may walk all of it to find a single
    // row.
    select = fmt::format(
        "{5} union all select @columns@ from (select o.* from unnest({6}) as late(xid) cross join lateral "
        "(select * from {0} o where o.{1} >= late.xid and o.{1} <= late.xid{2} order by o.{1}, o.{3} limit {4}) o "
        "limit {4}) o",
        table_, tx, fetch_.not_settled("o", ""), seq, ask, select, xid_array(since.running));
  }
  auto fetched = fetch_.fetch("", select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  frozen = {from.frame.from.empty() ? kSeesNothing : from.frame.from,
            std::string(fetched->facts.text(0, PageFetch::kSnapshot))};
  const bool whole = ask > 0 && fetched->seen <= rows && (!fetched->full || fetched->seen == fetched->page.rows.size());
  if (!whole) {
    expect_large_ = true;
    return std::nullopt;
  }
  model::Page page = std::move(fetched->page);
  std::ranges::sort(page.rows, {}, &model::Row::seq);
  page.frame = frozen;
  page.next = {{frozen.to, ""}, std::nullopt};
  return page;
}

base::Result<model::Page> Reader::read_closed(const model::Position& at, ports::ReadLimits limits) {
  const auto from = parse_snapshot(at.frame.from);
  const auto to = parse_snapshot(at.frame.to);
  if (!from || !to) return std::unexpected(unreadable(from ? at.frame.to : at.frame.from));
  const Pair pair{*from, *to, finished_between(*from, *to)};
  if (auto status = find_span(at.frame, pair); !status) return std::unexpected(status.error());
  const Span& span = spans_.back();
  if (!span.complete) {
    model::Page page;
    page.frame = at.frame;
    page.next = at;
    page.more = true;
    return page;
  }
  const std::int64_t last = at.last_seq.value_or(kNoSeq);
  if (!pair.late.empty() && last < span.first - 1) {
    auto page = read_late(at, pair, limits);
    if (!page || !page->rows.empty()) return page;
  }
  return read_walk(at, limits, std::max(last, span.first - 1));
}

// Late rows that lie before the frame's own: apart, so that one of them does not make the walk start far behind.
base::Result<model::Page> Reader::read_late(const model::Position& at, const Pair& pair, ports::ReadLimits limits) {
  const Span& span = spans_.back();
  const std::size_t rows = fetch_.row_limit(limits);
  const std::string tx = identifier(layout_.tx);
  const std::string seq = identifier(layout_.seq);
  const std::string select = fmt::format(
      "select @columns@ from (select o.* from unnest({0}) as late(xid) cross join lateral "
      "(select * from {1} o where o.{2} <= late.xid and (o.{2}, o.{3}) > (late.xid, {4}) and o.{3} + 0 < {5}{6} "
      "order by o.{2}, o.{3} limit {7}) o order by o.{3} limit {7}) o",
      xid_array(pair.late), table_, tx, seq, at.last_seq.value_or(kNoSeq), span.first, fetch_.not_settled("o", ""),
      rows);
  auto fetched = fetch_.fetch("", select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  model::Page page = std::move(fetched->page);
  const bool cut = fetched->full || fetched->seen == rows;
  page.frame = at.frame;
  page.next = {at.frame, cut ? page.rows.back().seq : span.first - 1};
  page.more = true;
  return page;
}

// The rows of a closed frame by the primary key. The two visibility tests cannot use an index, so no statistics can
// turn this into another plan; the window bounds the work where few rows belong.
base::Result<model::Page> Reader::read_walk(const model::Position& at, ports::ReadLimits limits, std::int64_t after) {
  const Span span = spans_.back();
  model::Position finished{{at.frame.to, ""}, std::nullopt};
  if (after >= span.last) {
    model::Page page;
    page.frame = at.frame;
    page.next = finished;
    if (!at.last_seq) expect_large_ = false;
    return page;
  }
  const std::size_t rows = fetch_.row_limit(limits);
  const std::int64_t window_end =
      std::min(span.last, saturating_add(after, std::max<std::int64_t>(kWalk, 4 * static_cast<std::int64_t>(rows))));
  const std::string seq = identifier(layout_.seq);
  const std::string tx = identifier(layout_.tx);
  const std::string following = fmt::format(", (select min({}) from {} where {} > {} and {} <= {})", seq, table_, seq,
                                            window_end, seq, span.last);
  const std::string range = fmt::format("seq > {} and seq <= {}", after, window_end);
  const std::string select = fmt::format(
      "select @columns@ from {} o where o.{} > {} and o.{} <= {} and pg_visible_in_snapshot(o.{}, {}::pg_snapshot) "
      "and not pg_visible_in_snapshot(o.{}, {}::pg_snapshot){} order by o.{} limit {}",
      table_, seq, after, seq, window_end, tx, literal(at.frame.to), tx,
      literal(at.frame.from.empty() ? kSeesNothing : at.frame.from), fetch_.not_settled("o", range), seq, rows);
  auto fetched = fetch_.fetch(following, select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  const auto next_seq = fetched->facts.maybe_number(0, PageFetch::kMoreFacts);
  model::Page page = std::move(fetched->page);
  page.frame = at.frame;
  const bool cut = fetched->full || fetched->seen == rows;
  if (cut) {
    page.next = {at.frame, page.rows.back().seq};
    page.more = page.rows.back().seq < span.last;
  } else if (next_seq) {
    page.next = {at.frame, *next_seq - 1};
    page.more = true;
  } else {
    page.next = finished;
  }
  if (!page.more) page.next = finished;
  // A frame that fits in one page was small after all.
  if (!page.more && !at.last_seq) expect_large_ = false;
  return page;
}

// Moves the frame's span to the end of spans_, searching on for it by one step where it is not known yet. There is no
// quicker exact way: a transaction that began late may hold a small seq.
base::Status Reader::find_span(const model::Frame& frame, const Pair& pair) {
  const auto known =
      std::ranges::find_if(spans_, [&](const Span& span) { return span.from == frame.from && span.to == frame.to; });
  if (known != spans_.end()) {
    std::rotate(known, known + 1, spans_.end());
    if (spans_.back().complete) return {};
  } else {
    if (spans_.size() == kSpansKept) spans_.erase(spans_.begin());
    Span fresh;
    fresh.from = frame.from;
    fresh.to = frame.to;
    fresh.first = std::numeric_limits<std::int64_t>::max();
    fresh.last = kNoSeq;
    fresh.first_late = std::numeric_limits<std::int64_t>::max();
    fresh.after_tx = std::to_string(pair.from.xmax);
    fresh.after_seq = kNoSeq;
    spans_.push_back(std::move(fresh));
  }
  Span& span = spans_.back();
  const std::string tx = identifier(layout_.tx);
  const std::string seq = identifier(layout_.seq);
  const std::string step =
      fmt::format("select {}, {} from {} where ({}, {}) > ('{}'::xid8, {}) and {} < '{}'::xid8 order by {}, {} ", tx,
                  seq, table_, tx, seq, span.after_tx, span.after_seq, tx, pair.to.xmax, tx, seq);
  const auto late = [&](const char* which) {
    if (pair.late.empty()) return std::string("null::bigint");
    return fmt::format(
        "(select {4}(o.{0} + 0) from unnest({1}) as late(xid) join {2} o on o.{3} >= late.xid and o.{3} <= late.xid)",
        seq, xid_array(pair.late), table_, tx, which);
  };
  auto found = fetch_.fetch(
      fmt::format(", found.* from (select count(*), min(k.{} + 0), max(k.{} + 0), {}, {} from ({} limit {}) k) found",
                  seq, seq, late("max"), late("min"), step, kSearchStep),
      "", 0);
  if (!found) return std::unexpected(found.error());
  const Answer& facts = found->facts;
  span.first = std::min(span.first, facts.maybe_number(0, PageFetch::kMoreFacts + 1).value_or(span.first));
  span.last = std::max({span.last, facts.maybe_number(0, PageFetch::kMoreFacts + 2).value_or(kNoSeq),
                        facts.maybe_number(0, PageFetch::kMoreFacts + 3).value_or(kNoSeq)});
  span.first_late =
      std::min(span.first_late, facts.maybe_number(0, PageFetch::kMoreFacts + 4).value_or(span.first_late));
  if (facts.number(0, PageFetch::kMoreFacts) < kSearchStep) {
    // Late rows alone: the walk has nothing of its own to begin with.
    if (span.first == std::numeric_limits<std::int64_t>::max() && span.last != kNoSeq) span.first = span.last + 1;
    if (span.last == kNoSeq) span.first = kNoSeq + 1;
    span.complete = true;
    return {};
  }
  auto end = fetch_.fetch(fmt::format(", found.* from ({} offset {} limit 1) found", step, kSearchStep - 1), "", 0);
  if (!end) return std::unexpected(end.error());
  span.after_tx = std::string(end->facts.text(0, PageFetch::kMoreFacts));
  span.after_seq = end->facts.number(0, PageFetch::kMoreFacts + 1);
  return {};
}

// A number below every row that lies beyond `place`.
std::int64_t Reader::before_all_of(const model::Position& place) const {
  if (place.last_seq) return *place.last_seq;
  const auto known = std::ranges::find_if(spans_, [&](const Span& span) {
    return span.complete && span.from == place.frame.from && span.to == place.frame.to;
  });
  return known == spans_.end() ? kNoSeq : std::max(kNoSeq, std::min(known->first, known->first_late) - 1);
}

// A condition on a row of alias o: it lies beyond one of the places. The bound keeps a key with a long history from
// being read whole.
base::Result<std::string> Reader::beyond(std::span<const model::Position> places) const {
  const std::string seq = identifier(layout_.seq);
  const std::string tx = identifier(layout_.tx);
  std::int64_t bound = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> any;
  for (const model::Position& place : places) {
    for (const std::string* snapshot : {&place.frame.from, &place.frame.to}) {
      if (!parse_snapshot(*snapshot)) return std::unexpected(unreadable(*snapshot));
    }
    bound = std::min(bound, before_all_of(place));
    any.push_back(fmt::format(
        "(o.{0} > {1} and pg_visible_in_snapshot(o.{2}, {3}::pg_snapshot) and not pg_visible_in_snapshot(o.{2}, "
        "{4}::pg_snapshot))",
        seq, place.last_seq.value_or(kNoSeq), tx, literal(place.frame.to),
        literal(place.frame.from.empty() ? kSeesNothing : place.frame.from)));
  }
  return fmt::format("o.{} > {} and ({}){}", seq, bound, fmt::join(any, " or "), fetch_.not_settled("o", ""));
}

// One look a key into the index on (aggregateid, seq).
base::Result<std::vector<std::size_t>> Reader::keys_behind(std::span<const ports::KeyBefore> keys,
                                                           std::span<const model::Position> places,
                                                           const std::string& incarnation) {
  if (fetch_.expect(incarnation)) spans_.clear();
  if (keys.empty() || places.empty()) return std::vector<std::size_t>{};
  const auto condition = beyond(places);
  if (!condition) return std::unexpected(condition.error());
  std::vector<std::string> names;
  std::vector<std::int64_t> befores;
  for (const ports::KeyBefore& key : keys) {
    names.push_back(key.key);
    befores.push_back(key.before);
  }
  auto found = fetch_.fetch(
      fmt::format(", (select string_agg(k.n::text, ',' order by k.n) from unnest({}::text[], {}::bigint[]) with "
                  "ordinality k(key, before, n) where exists (select from {} o where o.{} = k.key "
                  "and o.{} < k.before and {}))",
                  literal(array_text(names)), literal(array_text(befores)), table_, identifier(layout_.aggregate_id),
                  identifier(layout_.seq), *condition),
      "", 0);
  if (!found) return std::unexpected(found.error());
  std::vector<std::size_t> indexes;
  std::string_view text = found->facts.text(0, PageFetch::kMoreFacts);
  while (!text.empty()) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    indexes.push_back(number - 1);
    text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  }
  return indexes;
}

base::Result<model::Page> Reader::read_keys(std::span<const ports::KeyAfter> keys,
                                            std::span<const model::Position> places, const std::string& incarnation,
                                            ports::ReadLimits limits) {
  if (fetch_.expect(incarnation)) spans_.clear();
  if (keys.empty() || places.empty()) return model::Page{};
  const auto condition = beyond(places);
  if (!condition) return std::unexpected(condition.error());
  std::vector<std::string> names;
  std::vector<std::int64_t> afters;
  for (const ports::KeyAfter& key : keys) {
    names.push_back(key.key);
    afters.push_back(key.after);
  }
  const std::size_t rows = fetch_.row_limit(limits);
  const std::string seq = identifier(layout_.seq);
  const std::string key = identifier(layout_.aggregate_id);
  const std::string select = fmt::format(
      "select @columns@ from unnest({}::text[], {}::bigint[]) with ordinality k(key, after, n) cross join lateral "
      "(select o.* from {} o where o.{} = k.key and o.{} > k.after and {} order by o.{}, o.{} limit {}) o "
      "order by k.n, o.{} limit {}",
      literal(array_text(names)), literal(array_text(afters)), table_, key, seq, *condition, key, seq, rows, seq, rows);
  auto fetched = fetch_.fetch("", select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  model::Page page = std::move(fetched->page);
  page.more = fetched->full || fetched->seen >= rows;
  return page;
}

base::Result<model::Page> Reader::read_again(std::span<const std::int64_t> seqs, const std::string& incarnation,
                                             ports::ReadLimits limits) {
  if (fetch_.expect(incarnation)) spans_.clear();
  return fetch_.again(seqs, limits);
}

}  // namespace spillway::postgres
