// A real server with an installed outbox, for the tests of src/postgres.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "postgres/schema.h"
#include "postgres/store.h"
#include "support/postgres_server.h"

namespace spillway::testing {

// One server for all tests of a program that do not harm it.
inline PostgresServer& shared_server() {
  static PostgresServer server({.max_prepared_transactions = 10});
  return server;
}

inline postgres::InitOptions with_payload(postgres::Payload payload) {
  postgres::InitOptions options;
  options.payload = payload;
  return options;
}

// A database of its own in a server, with the schema.
class Outbox {
 public:
  explicit Outbox(PostgresServer& server = shared_server(), postgres::InitOptions options = {}, bool installed = true)
      : server_(server), name_("outbox_" + std::to_string(++count())), layout_(options.layout) {
    server_.execute("create database " + name_);
    if (installed) install(options);
  }
  ~Outbox() {
    try {
      server_.execute("drop database if exists " + name_ + " with (force)");
    } catch (const std::exception&) {  // the server is down: nothing to tidy
    }
  }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  postgres::Installed install(const postgres::InitOptions& options) {
    postgres::Connection connection({uri()});
    auto installed = postgres::install(connection, options);
    if (!installed) throw std::runtime_error(installed.error().message);
    return *installed;
  }

  std::string uri() const { return server_.uri(name_); }
  const std::string& database() const { return name_; }
  postgres::StoreOptions options() const { return {{uri()}, "default", layout_}; }
  std::unique_ptr<postgres::OutboxStore> store() const { return std::make_unique<postgres::OutboxStore>(options()); }

  void sql(const std::string& text) const { server_.execute(text, name_); }
  std::string value(const std::string& text) const { return server_.value(text, name_); }
  std::int64_t number(const std::string& text) const { return std::stoll(value(text)); }

  static std::string insert_sql(const std::string& key) {
    return "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('account', '" + key +
           "', 'opened', '{}') returning seq";
  }
  std::int64_t insert(const std::string& key = "a-1") const { return number(insert_sql(key)); }

 private:
  static int& count() {
    static int counter = 0;
    return counter;
  }

  PostgresServer& server_;
  std::string name_;
  postgres::TableLayout layout_;
};

// A writer's connection, for transactions that stay open.
class Session {
 public:
  explicit Session(const std::string& uri) : handle_(PQconnectdb(uri.c_str())) {
    if (PQstatus(handle_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(handle_.get()));
  }

  // The first field of the first row, or empty.
  std::string run(const std::string& sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(handle_.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
      throw std::runtime_error(PQerrorMessage(handle_.get()));
    return PQntuples(result.get()) > 0 && PQnfields(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }
  std::int64_t insert(const std::string& key = "a-1") { return std::stoll(run(Outbox::insert_sql(key))); }
  pid_t backend() { return PQbackendPID(handle_.get()); }
  PGconn* raw() { return handle_.get(); }

 private:
  struct Finish {
    void operator()(PGconn* handle) const { PQfinish(handle); }
  };
  std::unique_ptr<PGconn, Finish> handle_;
};

// The relay's reading, in its simplest form: reads on from where it stands and keeps what it saw.
class Follower {
 public:
  explicit Follower(const Outbox& outbox) : Follower(outbox.options()) {}
  explicit Follower(postgres::StoreOptions options)
      : store_(std::make_unique<postgres::OutboxStore>(std::move(options))), reader_(store_->open_reader()) {
    reload();
  }

  // As after a lost place: forgets what is in memory.
  void reload() {
    auto loaded = store_->open_ledger()->load();
    if (!loaded) throw std::runtime_error(loaded.error().message);
    at_ = loaded->progress.live;
    incarnation_ = loaded->incarnation;
  }

  // Until nothing follows; throws on any failure.
  std::vector<std::int64_t> read(ports::ReadLimits limits = {}) {
    std::vector<std::int64_t> seqs;
    for (bool more = true; more;) {
      const auto page = reader_->read(at_, incarnation_, limits);
      if (!page) throw std::runtime_error(page.error().message);
      for (const model::Row& row : page->rows) seqs.push_back(row.seq);
      at_ = page->next;
      more = page->more || !page->rows.empty();
    }
    return seqs;
  }

  base::Result<model::Page> read_page(ports::ReadLimits limits = {}) {
    auto page = reader_->read(at_, incarnation_, limits);
    if (page) at_ = page->next;
    return page;
  }

  model::Position& at() { return at_; }
  const std::string& incarnation() const { return incarnation_; }
  postgres::OutboxStore& store() { return *store_; }

 private:
  std::unique_ptr<postgres::OutboxStore> store_;
  std::unique_ptr<ports::OutboxReader> reader_;
  model::Position at_;
  std::string incarnation_;
};

}  // namespace spillway::testing
