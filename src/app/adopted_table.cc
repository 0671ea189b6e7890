#include "app/adopted_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace spillway::app {
namespace {

using postgres::TableLayout;

std::unexpected<base::Error> refuse(std::string message) {
  return base::fail(base::ErrorClass::kMisconfigured, std::move(message));
}

// As the SQL in each project's own repository has them; docs/writers.md says which files.
base::Status apply_preset(config::Preset preset, TableLayout& layout) {
  switch (preset) {
    case config::Preset::kNative: return {};
    case config::Preset::kDebezium:
      layout.seq = "id";
      layout.headers = layout.created_at = layout.tx = "";
      return {};
    case config::Preset::kOpenOutbox:
      layout.seq = layout.id = "event_id";
      layout.aggregate_type = "";
      layout.aggregate_id = "partition_key";
      layout.type = "event_type";
      layout.tx = "";
      layout.status = "status";
      layout.status_pending = {"PENDING", "DELIVERING"};
      layout.status_done = "DELIVERED";
      return {};
    case config::Preset::kGoharvest:
      layout.seq = layout.id = "id";
      layout.aggregate_type = "kafka_topic";
      layout.aggregate_id = "kafka_key";
      layout.type = layout.tx = "";
      layout.payload = "kafka_value";
      layout.headers = "kafka_header_keys";
      layout.header_values = "kafka_header_values";
      layout.created_at = "create_time";
      return {};
    case config::Preset::kTomorrowOne:
      layout.seq = layout.id = "id";
      layout.aggregate_type = "topic";
      layout.aggregate_id = "key";
      layout.type = layout.tx = "";
      layout.payload = "value";
      layout.created_at = "created";
      layout.status = "processed";
      return {};
    case config::Preset::kGoOutbox: break;
  }
  return refuse(
      "outbox.preset is go-outbox, whose tables are in MySQL and hold whole messages in Go's own encoding, which "
      "Spillway "
      "cannot take apart: for a table in PostgreSQL with a column for each part, use debezium and outbox.columns");
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> values;
  std::istringstream in(text);
  for (std::string value; std::getline(in >> std::ws, value, ',');) {
    value.erase(value.find_last_not_of(' ') + 1);
    values.push_back(value);
  }
  return values;
}

base::Status apply_columns(const std::map<std::string, std::string>& columns, TableLayout& layout) {
  const std::array<std::pair<const char*, std::string*>, 12> members{{{"order", &layout.seq},
                                                                      {"id", &layout.id},
                                                                      {"aggregatetype", &layout.aggregate_type},
                                                                      {"topic", &layout.aggregate_type},
                                                                      {"aggregateid", &layout.aggregate_id},
                                                                      {"key", &layout.aggregate_id},
                                                                      {"type", &layout.type},
                                                                      {"payload", &layout.payload},
                                                                      {"headers", &layout.headers},
                                                                      {"created_at", &layout.created_at},
                                                                      {"tx", &layout.tx},
                                                                      {"status", &layout.status}}};
  for (const auto& [one, other] : {std::pair("topic", "aggregatetype"), std::pair("key", "aggregateid")}) {
    if (!columns.contains(one) || !columns.contains(other)) continue;
    return refuse(
        fmt::format("outbox.columns.{} stands in the place of outbox.columns.{}: leave one of them out", one, other));
  }
  for (const auto& [name, member] : members) {
    if (const auto column = columns.find(name); column != columns.end()) *member = column->second;
  }
  if (columns.contains("headers")) layout.header_values.clear();
  if (columns.contains("status")) {
    layout.status_pending.clear();
    layout.status_done.clear();
  }
  if (const auto pending = columns.find("status_pending"); pending != columns.end()) {
    layout.status_pending = listed(pending->second);
  }
  if (const auto done = columns.find("status_done"); done != columns.end()) layout.status_done = done->second;
  if (layout.status.empty() && (!layout.status_pending.empty() || !layout.status_done.empty())) {
    return refuse(
        "outbox.columns.status_pending and status_done are values of outbox.columns.status: name that column");
  }
  if (layout.tx.empty()) return {};
  if (columns.contains("status")) {
    return refuse("outbox.columns has both tx and status: with tx nothing is marked in the table, leave status out");
  }
  layout.status.clear();
  return {};
}

// A topic with a hole in it would set every row aside.
base::Status check_topic(const std::string& topic, const TableLayout& layout) {
  for (const auto& [field, column] :
       {std::pair("aggregatetype", &layout.aggregate_type), std::pair("type", &layout.type)}) {
    if (!column->empty() || topic.find(fmt::format("{{{}}}", field)) == std::string::npos) continue;
    return refuse(
        fmt::format("route.topic is '{}' and {} has no column for {{{}}}: set route.topic, or name the column in "
                    "outbox.columns.{}",
                    topic, layout.name(), field, field));
  }
  return {};
}

}  // namespace

base::Result<TableLayout> table_layout(const config::Config& config) {
  auto layout = postgres::layout_of(config.outbox.table);
  if (!layout) return layout;
  if (auto status = apply_preset(config.outbox.preset, *layout); !status) return std::unexpected(status.error());
  if (auto status = apply_columns(config.outbox.columns, *layout); !status) return std::unexpected(status.error());
  if (auto status = check_topic(topic_template(config), *layout); !status) return std::unexpected(status.error());
  layout->adopted = config.outbox.preset != config::Preset::kNative || !config.outbox.columns.empty();
  return layout;
}

std::string topic_template(const config::Config& config) {
  const bool in_table = config.outbox.preset == config::Preset::kGoharvest ||
                        config.outbox.preset == config::Preset::kTomorrowOne || config.outbox.columns.contains("topic");
  const bool set = config.origin_of("route.topic").kind != config::Origin::Kind::kDefault;
  const bool whole = in_table && !config.outbox.columns.contains("aggregatetype");
  return whole && !set ? "{aggregatetype}" : config.route.topic;
}

}  // namespace spillway::app
