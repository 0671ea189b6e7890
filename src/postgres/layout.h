// Which table is the outbox, and what its columns are called.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::postgres {

// Names as the catalogue has them, unquoted. An empty column name: the table has no such column.
//
// Without `tx` a table cannot be read by snapshots. Its rows are then marked one by one as they are acknowledged
// (compatibility mode): by `status`, or by deleting them where there is none.
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
  std::string header_values = {};  // with it, `headers` is a text[] of names and this the text[] of their values

  std::string status = {};
  std::vector<std::string> status_pending = {};  // empty: NULL
  std::string status_done = {};                  // empty: the time

  // Somebody else's table: never created or altered here, and `id` may be of any type or missing.
  bool adopted = false;

  bool marks_rows() const { return tx.empty(); }
  // A condition on a row of alias `o`: not yet marked.
  std::string pending_sql() const;
  // A statement that marks those pending rows of alias `o` for which `condition` holds and returns 1 for each.
  std::string mark_sql(std::string_view condition) const;

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
