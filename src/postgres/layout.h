// Which table is the outbox, and what its columns are called.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::postgres {

// Names as the catalogue has them, unquoted. An empty column name: the table has no such column.
struct TableLayout {
  std::string schema = "spillway";
  std::string table = "outbox";
  std::string seq = "seq";
  std::string id = "id";
  std::string aggregate_type = "aggregatetype";
  std::string aggregate_id = "aggregateid";
  std::string type = "type";
  std::string payload = "payload";
  std::string headers = "headers";
  std::string created_at = "created_at";
  std::string tx = "tx";

  // "schema"."table", quoted.
  std::string qualified() const;
  // schema.table, for people.
  std::string name() const { return schema + "." + table; }
};

// "table" or "schema.table", where a part in double quotes keeps its case; the schema is public unless named.
base::Result<TableLayout> layout_of(std::string_view table);

// "name", with quotes inside doubled.
std::string identifier(std::string_view name);

// 'text', also where it holds quotes or backslashes.
std::string literal(std::string_view text);

}  // namespace spillway::postgres
