// Where a row goes: topic and key by template, and the headers of its record.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/sink.h"

namespace spillway::relay {

// Text with {aggregatetype}, {aggregateid}, {type} and {id} in it.
class Template {
 public:
  static base::Result<Template> parse(std::string_view text);

  // Replaces `out`. False where the template needs aggregateid and the row has none.
  bool render(const model::Row& row, std::string& out) const;

  // The field, when the whole template is one field: its bytes may be used without a copy.
  enum class Field : unsigned char { kText, kAggregateType, kAggregateId, kType, kId };
  std::optional<Field> single_field() const;
  bool has(Field field) const;

 private:
  struct Piece {
    Field field = Field::kText;
    std::string text;
  };
  std::vector<Piece> pieces_;
};

struct RouteOptions {
  std::string topic = "outbox.event.{aggregatetype}";
  std::string key = "{aggregateid}";
  std::string reconcile_topic = "outbox.reconcile";
  bool cloudevents = false;
};

// A record's parts before topic and partition are known. Views point into the row or into the route that made it, and
// are valid until its next `address`.
struct Addressed {
  std::string_view topic;
  std::optional<std::string_view> key;
  std::span<const ports::Header> headers;
  std::int64_t unix_millis = 0;
};

class Route {
 public:
  static base::Result<Route> make(const RouteOptions& options);

  // kRejected where the row's headers are not a JSON object or the topic needs an aggregateid that is NULL: the row can
  // never be sent as it is.
  base::Result<Addressed> address(const model::Row& row, std::int64_t db_now_micros);
  // To the reconcile topic, with headers that say which rule sent it there, why, and where it would have gone.
  base::Result<Addressed> reconcile(const model::Row& row, const model::Settlement& settlement,
                                    std::int64_t db_now_micros);

  // Whether all events of one key have the same aggregateid, so that it leads to the rows of a key.
  bool key_has_aggregate_id() const { return key_.has(Template::Field::kAggregateId); }

 private:
  Route(Template topic, Template key, RouteOptions options)
      : topic_(std::move(topic)), key_(std::move(key)), options_(std::move(options)) {}

  base::Status add_own_headers(std::string_view json);
  void add_standard_headers(const model::Row& row, const model::RecordTime& time);
  std::string_view keep(std::string text);
  std::string& kept(std::size_t index);

  Template topic_;
  Template key_;
  RouteOptions options_;
  std::string topic_text_;
  std::string key_text_;
  std::string id_text_;
  std::deque<std::string> kept_;  // header texts that are not in the row; used again by the next one
  std::size_t kept_used_ = 0;
  std::vector<ports::Header> headers_;
};

}  // namespace spillway::relay
