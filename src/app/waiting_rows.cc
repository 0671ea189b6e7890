#include "app/waiting_rows.h"

#include <utility>

namespace spillway::app {

WaitingRows::WaitingRows(ports::OutboxStore& store, ports::ReadLimits limits)
    : store_(store), limits_(limits), reader_(store.open_reader()) {}

base::Status WaitingRows::load() {
  const auto loaded = store_.open_ledger()->load();
  if (!loaded) return std::unexpected(loaded.error());
  incarnation_ = loaded->incarnation;
  for (const ports::Interval& interval : loaded->progress.backlog) left_.push_back(interval.at);
  left_.push_back(loaded->progress.live);
  live_continues_ = !loaded->progress.live.frame.to.empty();
  loaded_ = true;
  return {};
}

base::Result<std::optional<model::Page>> WaitingRows::next() {
  if (!loaded_) {
    if (auto status = load(); !status) return std::unexpected(status.error());
  }
  if (left_.empty()) return std::nullopt;
  auto page = reader_->read(left_.front(), incarnation_, limits_);
  if (!page) return std::unexpected(page.error());
  // Behind a frame stands the open place that follows it. Where rows are marked there are no frames.
  const bool ended = store_.marks_rows() ? !page->more : page->next.frame.to.empty();
  if (!ended) {
    left_.front() = page->next;
  } else {
    left_.pop_front();
    if (left_.empty() && std::exchange(live_continues_, false)) left_.push_back(page->next);
  }
  return std::move(*page);
}

}  // namespace spillway::app
