#include "relay/lane.h"

#include <algorithm>

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

std::optional<Ordinal> Lane::first_unplaced() const {
  const auto batch = std::ranges::find(batches_, false, &Batch::done);
  if (batch == batches_.end()) return std::nullopt;
  return batch->ordinals[batch->next];
}

std::size_t Lane::unplaced() const {
  std::size_t rows = 0;
  for (const Batch& batch : batches_) rows += batch.left();
  return rows;
}

}  // namespace spillway::relay
