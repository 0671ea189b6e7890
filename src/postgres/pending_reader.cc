#include "postgres/pending_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "postgres/snapshot.h"

namespace spillway::postgres {
namespace {

constexpr char kNoLanes[] = "a table whose rows are marked one by one has no lanes";

// "3,4,17"
std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    at = std::from_chars(at, text.data() + text.size(), out.emplace_back()).ptr;
  }
  return out;
}

}  // namespace

PendingReader::PendingReader(ConnectOptions connect, std::string outbox, TableLayout layout)
    : fetch_(std::move(connect), std::move(outbox), layout),
      layout_(std::move(layout)),
      table_(layout_.qualified()),
      last_(kNoSeq) {}

base::Result<model::Page> PendingReader::read(const model::Position& from, const std::string& incarnation,
                                              ports::ReadLimits limits) {
  if (fetch_.expect(incarnation) || from != next_ || from == model::Position{}) {
    handed_.clear();
    last_ = kNoSeq;
    next_ = {};
  }
  const std::size_t rows = fetch_.row_limit(limits);
  const std::size_t listed = handed_.size() + rows;
  const std::string seq = "o." + identifier(layout_.seq);
  const std::string which = layout_.pending_sql() + fetch_.not_settled("o", "");
  const std::string before = fmt::format(
      ", (select string_agg(k.seq::text, ',' order by k.seq) from (select {0} as seq from {1} o where {0} <= {2} "
      "and {3} order by {0} limit {4}) k)",
      seq, table_, last_, which, listed);
  const std::string select =
      fmt::format("select @columns@ from (select o.* from {1} o where {0} > {2} and {3} order by {0} limit {4}) o", seq,
                  table_, last_, which, rows);
  auto fetched = fetch_.fetch(before, select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  const auto pending = numbers(fetched->facts.text(0, PageFetch::kMoreFacts));
  std::vector<std::int64_t> late = take_note(pending, pending.size() == listed);
  if (!late.empty()) return read_late(std::span(late).first(std::min(late.size(), rows)), limits);
  model::Page page = std::move(fetched->page);
  std::ranges::sort(page.rows, {}, &model::Row::seq);
  page.more = fetched->full || fetched->seen == rows;
  hand_out(page);
  return page;
}

std::vector<std::int64_t> PendingReader::take_note(const std::vector<std::int64_t>& pending, bool cut) {
  std::vector<std::int64_t> late;
  std::ranges::set_difference(pending, handed_, std::back_inserter(late));
  std::vector<std::int64_t> still;
  std::ranges::set_intersection(pending, handed_, std::back_inserter(still));
  if (cut) {
    still.insert(still.end(), std::ranges::upper_bound(handed_, pending.back()), handed_.end());
  }
  handed_ = std::move(still);
  return late;
}

base::Result<model::Page> PendingReader::read_late(std::span<const std::int64_t> late, ports::ReadLimits limits) {
  const std::string seq = "o." + identifier(layout_.seq);
  auto fetched = fetch_.fetch(
      "",
      fmt::format("select @columns@ from {} o where {} = any ('{{{}}}'::bigint[]) and {}{} order by {}", table_, seq,
                  fmt::join(late, ","), layout_.pending_sql(), fetch_.not_settled("o", ""), seq),
      limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  model::Page page = std::move(fetched->page);
  page.more = true;
  hand_out(page);
  return page;
}

void PendingReader::hand_out(model::Page& page) {
  const auto middle = static_cast<std::ptrdiff_t>(handed_.size());
  for (const model::Row& row : page.rows) handed_.push_back(row.seq);
  std::ranges::inplace_merge(handed_, handed_.begin() + middle);
  if (!handed_.empty()) last_ = std::max(last_, handed_.back());
  page.frame = {kSeesNothing, ""};
  next_ = {page.frame, last_ == kNoSeq ? std::nullopt : std::optional(last_)};
  page.next = next_;
}

base::Result<model::Page> PendingReader::read_again(std::span<const std::int64_t> seqs, const std::string& incarnation,
                                                    ports::ReadLimits limits) {
  // The other incarnation is noticed here and the next read begins anew.
  if (fetch_.expect(incarnation)) next_ = {};
  return fetch_.again(seqs, limits);
}

base::Result<std::vector<std::size_t>> PendingReader::keys_behind(std::span<const ports::KeyBefore>,
                                                                  std::span<const model::Position>,
                                                                  const std::string&) {
  return base::fail(base::ErrorClass::kFatal, kNoLanes);
}

base::Result<model::Page> PendingReader::read_keys(std::span<const ports::KeyAfter>, std::span<const model::Position>,
                                                   const std::string&, ports::ReadLimits) {
  return base::fail(base::ErrorClass::kFatal, kNoLanes);
}

}  // namespace spillway::postgres
