// An eventfd that librdkafka's and our own threads signal and the owner's loop polls for reading.
#pragma once

namespace spillway::kafka {

class Wakeup {
 public:
  Wakeup();  // throws std::system_error where the process has no descriptors left
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  int fd() const { return fd_; }
  void signal();  // any thread
  void clear();

 private:
  int fd_;
};

}  // namespace spillway::kafka
