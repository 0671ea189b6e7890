// What `outbox.preset` and `outbox.columns` say about a table that exists.
#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "postgres/layout.h"

namespace spillway::app {

// The layout of outbox.table: Spillway's own, or that of the preset with the single columns on top. kMisconfigured
// where the two do not make one.
base::Result<postgres::TableLayout> table_layout(const config::Config& config);

// route.topic; where it is not set and the table has a column with the topic, that column.
std::string topic_template(const config::Config& config);

}  // namespace spillway::app
