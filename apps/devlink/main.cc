// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "devlink/driver.h"

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Left alone, glibc raises the size from which memory is mapped by itself with every large block
  // that is freed; what growing tables leave behind then stays with the process.
  constexpr int kMapFrom = 1 << 17;
  mallopt(M_MMAP_THRESHOLD, kMapFrom);
#endif
  return devlink::app::RunDriver(std::vector<std::string>(argv + 1, argv + argc));
}
