// A table as another outbox made it, with Spillway's side tables beside it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "postgres/outbox.h"

namespace spillway::testing {

inline constexpr char kDebezium[] =
    "create table public.events (n bigserial primary key, id uuid not null default gen_random_uuid(), "
    "aggregatetype varchar(255) not null, aggregateid varchar(255) not null, type varchar(255) not null, payload text, "
    "headers jsonb, at timestamptz default now())";

inline postgres::TableLayout debezium() {
  postgres::TableLayout layout;
  layout.schema = "public";
  layout.table = "events";
  layout.seq = "n";
  layout.created_at = "at";
  layout.tx = "";
  layout.adopted = true;
  return layout;
}

inline postgres::TableLayout with_status() {
  postgres::TableLayout layout = debezium();
  layout.status = "state";
  layout.status_pending = {"NEW"};
  layout.status_done = "SENT";
  return layout;
}

inline constexpr char kStatusColumn[] =
    "alter table public.events add state text not null default 'NEW'; "
    "create index on public.events (n) where state = 'NEW'";

// A database with such a table and the side tables.
struct Adopted {
  explicit Adopted(const postgres::TableLayout& layout = debezium(), const std::string& more = "",
                   const std::string& table = kDebezium)
      : outbox(shared_server(), options_for(layout), false) {
    outbox.sql(table);
    if (!more.empty()) outbox.sql(more);
    outbox.install(options_for(layout));
  }
  static postgres::InitOptions options_for(const postgres::TableLayout& layout) {
    postgres::InitOptions options;
    options.layout = layout;
    return options;
  }

  std::string refusal() {
    const auto inspected = outbox.store()->inspect();
    if (inspected) return "accepted";
    EXPECT_EQ(inspected.error().error_class, base::ErrorClass::kMisconfigured);
    return inspected.error().message;
  }

  Outbox outbox;
};

inline std::string insert_sql(const std::string& key = "a-1") {
  return "insert into public.events (aggregatetype, aggregateid, type, payload) values ('account', '" + key +
         "', 'opened', '{}') returning n";
}

}  // namespace spillway::testing
