// Only in builds for the thread sanitizer. librdkafka starts its threads by C11's thrd_create, which glibc carries out
// without the sanitizer noticing, and such a thread crashes in the sanitizer's first interceptor. It also locks by C11
// mutexes, which the sanitizer does not know, so what librdkafka itself does is left out of the reports.
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> mine(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(mine->function(mine->argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  if (pthread_create(thread, nullptr, run, start.get()) != 0) return thrd_error;
  start.release();
  return thrd_success;
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  if (pthread_join(thread, &returned) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
  return thrd_success;
}

const char* __tsan_default_suppressions();
const char* __tsan_default_suppressions() { return "called_from_lib:librdkafka.so\n"; }
}
