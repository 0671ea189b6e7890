#include "console/settled_json.h"

#include <nlohmann/json.hpp>

#include "model/timestamp.h"

namespace spillway::console {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string time_text(std::int64_t unix_micros) { return model::to_string(model::Timestamp::at(unix_micros)); }

std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

OrderedJson object(const model::Settlement& event) {
  return {{"id", base::to_string(event.id)},
          {"key", event.key ? OrderedJson(*event.key) : OrderedJson(nullptr)},
          {"topic", event.topic},
          {"type", event.type},
          {"reason", event.reason},
          {"rule", event.rule},
          {"since", time_text(event.since_unix_micros)},
          {"bytes", event.bytes},
          {"verdict", model::to_string(event.verdict)},
          {"state", state_name(event.state)},
          {"who", event.who},
          {"seq", event.seq}};
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t block = 0;
    const std::size_t given = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      block = block << 8 | (j < given ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) out += j <= given ? kDigits[block >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(OrderedJson(text).dump());
    return true;
  } catch (const OrderedJson::type_error&) {
    return false;
  }
}

void add_row(OrderedJson& json, const model::Row& row, bool with_payload) {
  json["aggregatetype"] = row.aggregate_type;
  json["created_at"] = model::to_string(row.created_at);
  const OrderedJson headers = row.headers ? OrderedJson::parse(*row.headers, nullptr, false) : OrderedJson(nullptr);
  json["headers"] = headers.is_discarded() ? OrderedJson(*row.headers) : headers;
  json["payload_bytes"] = row.payload ? OrderedJson(row.payload->size()) : OrderedJson(nullptr);
  if (!with_payload) return;
  if (!row.payload || is_utf8(*row.payload)) {
    json["payload"] = row.payload ? OrderedJson(*row.payload) : OrderedJson(nullptr);
  } else {
    json["payload_base64"] = base64(*row.payload);
  }
}

}  // namespace

const char* state_name(model::SettlementState state) {
  switch (state) {
    case model::SettlementState::kOpen: return "open";
    case model::SettlementState::kReleased: return "released";
    case model::SettlementState::kDone: return "done";
  }
  return "unknown";
}

std::string list_json(std::span<const model::Settlement> events) {
  OrderedJson list = OrderedJson::array();
  for (const model::Settlement& event : events) list.push_back(object(event));
  return dump(list);
}

std::string event_json(const model::Settlement& event, const model::Page& page, bool with_payload) {
  OrderedJson json = object(event);
  json["row_exists"] = !page.rows.empty();
  if (!page.rows.empty()) add_row(json, page.rows.front(), with_payload);
  return dump(json);
}

std::string row_json(const model::Row& row, const char* state, bool with_payload) {
  OrderedJson json{{"id", base::to_string(row.id)},
                   {"state", state},
                   {"seq", row.seq},
                   {"type", row.type},
                   {"aggregateid", row.aggregate_id ? OrderedJson(*row.aggregate_id) : OrderedJson(nullptr)}};
  add_row(json, row, with_payload);
  return dump(json);
}

std::string preview_json(const Preview& shown) {
  const auto time = [](const std::optional<std::int64_t>& at) {
    return at ? OrderedJson(time_text(*at)) : OrderedJson(nullptr);
  };
  const auto up_to = shown.up_to_seq();
  return dump({{"count", shown.count()},
               {"more", shown.more},
               {"oldest", time(shown.oldest_unix_micros)},
               {"newest", time(shown.newest_unix_micros)},
               {"up_to_seq", up_to ? OrderedJson(*up_to) : OrderedJson(nullptr)}});
}

}  // namespace spillway::console
