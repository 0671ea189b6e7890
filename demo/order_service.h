// A small shop: each order is a business row and an event, written in one transaction, as any service with an outbox
// does.
#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

namespace spillway::demo {

class OrderService {
 public:
  // Creates the table of orders in the database at `path`, where `spillway init` has made the outbox.
  explicit OrderService(const std::string& path);
  ~OrderService();
  OrderService(const OrderService&) = delete;
  OrderService& operator=(const OrderService&) = delete;

  // One change of one customer's order. Every tenth is rolled back after its event was written: no event may come of
  // it.
  void change_order(int customer);

  std::int64_t committed() const { return committed_; }

 private:
  void run(const char* sql);

  sqlite3* database_ = nullptr;
  std::int64_t committed_ = 0;
  std::int64_t tried_ = 0;
};

}  // namespace spillway::demo
