#include "relay/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

base::Result<Route> Route::make(const RouteOptions& options) {
  auto topic = Template::parse(options.topic);
  if (!topic) return std::unexpected(topic.error());
  auto key = Template::parse(options.key);
  if (!key) return std::unexpected(key.error());
  return Route(std::move(*topic), std::move(*key), options.cloudevents);
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

void Route::add_standard_headers(const model::Row& row, const model::RecordTime& time) {
  id_text_.resize(36);
  base::write_uuid(row.id, id_text_.data());
  if (cloudevents_) {
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
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return base::fail(base::ErrorClass::kRejected, "its headers are not a JSON object");
  const std::size_t first = headers_.size();
  for (const auto& [name, value] : object.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const std::string_view kept_name = keep(name);
    headers_.push_back({kept_name, keep(std::move(text))});
  }
  std::sort(headers_.begin() + static_cast<std::ptrdiff_t>(first), headers_.end(),
            [](const auto& a, const auto& b) { return stored_before(a.name, b.name); });
  return {};
}

std::string_view Route::keep(std::string text) {
  if (kept_used_ == kept_.size()) kept_.emplace_back();
  kept_[kept_used_] = std::move(text);
  return kept_[kept_used_++];
}

}  // namespace spillway::relay
