#include "relay/delivery_check.h"

#include <map>
#include <set>
#include <unordered_set>

#include "support/topic_reader.h"

namespace spillway::testing {

Delivery check_delivery(const PostgresServer& server, const std::string& bootstrap, const std::string& topic,
                        const std::string& database) {
  Delivery found;
  std::unordered_set<std::string> rows;
  for (auto& row :
       server.execute("select id::text from spillway.outbox where aggregatetype = '" + topic + "'", database)) {
    rows.insert(*row[0]);
  }
  found.committed = static_cast<std::int64_t>(rows.size());

  std::unordered_set<std::string> seen;
  std::map<std::string, std::int64_t> last;
  for (const TopicRecord& record : TopicReader(bootstrap).read_all(topic)) {
    const std::string id = record.header("id").value_or("");
    if (!seen.insert(id).second) {
      ++found.duplicates;
      continue;
    }
    if (!rows.contains(id)) ++found.foreign;
    const std::int64_t number = std::stoll(record.value->substr(record.value->find(' ')));
    std::int64_t& before = last[*record.key];
    if (number <= before) ++found.inversions;
    before = std::max(before, number);
  }
  for (const std::string& id : rows) found.lost += seen.contains(id) ? 0 : 1;
  return found;
}

}  // namespace spillway::testing
