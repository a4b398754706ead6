// SPDX-License-Identifier: Apache-2.0
//
// Put in front of the C library (LD_PRELOAD), says that the machine has as many processors as
// DEVLINK_BENCH_THREADS says: so devlink, which has no option for that, takes so many threads.
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int get_nprocs() {
  const char* const threads = std::getenv("DEVLINK_BENCH_THREADS");
  return threads == nullptr ? 1 : std::atoi(threads);
}
