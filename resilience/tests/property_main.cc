// Runs every property 10,000 times and prints the seed that repeats the run: RC_PARAMS="seed=… max_success=10000".
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

int main(int argc, char** argv) {
  const std::string fresh = "max_success=10000 seed=" + std::to_string(std::random_device{}());
  setenv("RC_PARAMS", fresh.c_str(), 0);
  std::printf("RC_PARAMS=\"%s\"\n", std::getenv("RC_PARAMS"));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
