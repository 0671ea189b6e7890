// Compiled as C++17, alone.
#include "spillway_observations.h"

static_assert(__cplusplus == 201703L, "the header is compiled as its users compile it");

void record_one(spillway::observations::Client& client);
void record_one(spillway::observations::Client& client) { client.record(std::chrono::milliseconds(1), true); }
