#include "relay/route.h"

#include <fmt/format.h>

#include <algorithm>

#include "relay/header_object.h"

namespace spillway::relay {
namespace {

struct FieldName {
  std::string_view name;
  Template::Field field;
};
constexpr FieldName kFields[] = {{"aggregatetype", Template::Field::kAggregateType},
                                 {"aggregateid", Template::Field::kAggregateId},
                                 {"type", Template::Field::kType},
                                 {"id", Template::Field::kId}};

// The order in which jsonb stores the names of an object: shorter first, then by bytes.
bool stored_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

base::Result<Template> Template::parse(std::string_view text) {
  Template made;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    if (open != at) made.pieces_.push_back({Field::kText, std::string(text.substr(at, open - at))});
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
    const auto* field = std::find_if(std::begin(kFields), std::end(kFields), [&](auto& f) { return f.name == name; });
    if (close == std::string_view::npos || field == std::end(kFields)) {
      return base::fail(
          base::ErrorClass::kMisconfigured,
          fmt::format("\"{}\" has no field {{{}}}: use {{aggregatetype}}, {{aggregateid}}, {{type}} or {{id}}", text,
                      name));
    }
    made.pieces_.push_back({field->field, {}});
    at = close + 1;
  }
  return made;
}

bool Template::render(const model::Row& row, std::string& out) const {
  out.clear();
  for (const Piece& piece : pieces_) {
    switch (piece.field) {
      case Field::kText: out += piece.text; break;
      case Field::kAggregateType: out += row.aggregate_type; break;
      case Field::kType: out += row.type; break;
      case Field::kId: out += base::to_string(row.id); break;
      case Field::kAggregateId:
        if (!row.aggregate_id) return false;
        out += *row.aggregate_id;
        break;
    }
  }
  return true;
}

std::optional<Template::Field> Template::single_field() const {
  if (pieces_.size() != 1 || pieces_.front().field == Field::kText) return std::nullopt;
  return pieces_.front().field;
}

bool Template::has(Field field) const {
  return std::ranges::any_of(pieces_, [field](const Piece& piece) { return piece.field == field; });
}

base::Result<Route> Route::make(const RouteOptions& options) {
  auto topic = Template::parse(options.topic);
  if (!topic) return std::unexpected(topic.error());
  auto key = Template::parse(options.key);
  if (!key) return std::unexpected(key.error());
  return Route(std::move(*topic), std::move(*key), options);
}

base::Result<Addressed> Route::address(const model::Row& row, std::int64_t db_now_micros) {
  headers_.clear();
  kept_used_ = 0;
  if (!topic_.render(row, topic_text_)) {
    return base::fail(base::ErrorClass::kRejected, "the topic needs aggregateid, which is NULL");
  }
  Addressed addressed;
  addressed.topic = topic_text_;
  if (key_.single_field() == Template::Field::kAggregateId) {
    addressed.key = row.aggregate_id;
  } else if (key_.render(row, key_text_)) {
    addressed.key = key_text_;
  }
  const model::RecordTime time = model::record_time(row.created_at, db_now_micros);
  addressed.unix_millis = time.unix_millis;
  add_standard_headers(row, time);
  if (row.headers) {
    if (base::Status own = add_own_headers(*row.headers); !own) return std::unexpected(own.error());
  }
  addressed.headers = headers_;
  return addressed;
}

base::Result<Addressed> Route::reconcile(const model::Row& row, const model::Settlement& settlement,
                                         std::int64_t db_now_micros) {
  auto addressed = address(row, db_now_micros);
  if (!addressed) return addressed;
  headers_.push_back({"spillway-verdict", to_string(settlement.verdict)});
  headers_.push_back({"spillway-rule", settlement.rule});
  headers_.push_back({"spillway-reason", settlement.reason});
  headers_.push_back({"spillway-topic", addressed->topic});
  addressed->topic = options_.reconcile_topic;
  addressed->headers = headers_;
  return addressed;
}

void Route::add_standard_headers(const model::Row& row, const model::RecordTime& time) {
  id_text_.resize(36);
  base::write_uuid(row.id, id_text_.data());
  if (options_.cloudevents) {
    headers_.push_back({"ce_specversion", "1.0"});
    headers_.push_back({"ce_id", id_text_});
    headers_.push_back({"ce_type", row.type});
    headers_.push_back({"ce_source", keep(fmt::format("/{}", row.aggregate_type))});
    if (row.aggregate_id) headers_.push_back({"ce_subject", *row.aggregate_id});
    headers_.push_back({"ce_time", keep(to_string(model::Timestamp::at(time.unix_millis * 1000)))});
  }
  headers_.push_back({"id", id_text_});
  headers_.push_back({"type", row.type});
  if (time.replaced) headers_.push_back({"spillway-created-at", keep(to_string(row.created_at))});
}

base::Status Route::add_own_headers(std::string_view json) {
  HeaderObject object(json);
  const auto first = static_cast<std::ptrdiff_t>(headers_.size());
  while (const auto member = object.next(kept(kept_used_), kept(kept_used_ + 1))) {
    headers_.push_back({member->name, member->value});
    kept_used_ += 2;
  }
  if (!object.good()) return base::fail(base::ErrorClass::kRejected, "its headers are not a JSON object");
  // Of a name that stands twice the last counts, as in jsonb.
  const auto own = std::ranges::subrange(headers_.begin() + first, headers_.end());
  std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return stored_before(a.name, b.name); });
  const auto same = [](const auto& a, const auto& b) { return a.name == b.name; };
  const auto last_of_each = std::unique(headers_.rbegin(), headers_.rend() - first, same);
  headers_.erase(headers_.begin() + first, last_of_each.base());
  return {};
}

std::string& Route::kept(std::size_t index) {
  while (index >= kept_.size()) kept_.emplace_back();
  return kept_[index];
}

std::string_view Route::keep(std::string text) { return kept(kept_used_++) = std::move(text); }

}  // namespace spillway::relay
