#include "relay/lane.h"

namespace spillway::relay {

Batch* Lane::take(model::Page page) {
  read_from_ = page.next;
  const Ordinal first = window_.append(page);
  if (page.rows.empty()) return nullptr;
  Batch batch;
  batch.ordinals.resize(page.rows.size());
  for (std::size_t i = 0; i < page.rows.size(); ++i) batch.ordinals[i] = first + i;
  batch.page = std::move(page);
  return &batches_.emplace_back(std::move(batch));
}

void Lane::put_back_unplaced() {
  while (!batches_.empty() && batches_.front().done()) batches_.pop_front();
  if (batches_.empty()) return;
  read_from_ = window_.take_back(batches_.front().ordinals[batches_.front().next]);
  batches_.clear();
}

std::size_t Lane::unplaced() const {
  std::size_t rows = 0;
  for (const Batch& batch : batches_) rows += batch.left();
  return rows;
}

}  // namespace spillway::relay
