// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "devlink/driver.h"

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Left alone, glibc raises the size from which memory is mapped by itself with every large block
  // that is freed; what growing tables leave behind then stays with the process. An assembler of
  // PTX, however, takes and frees such blocks all the time, which would cost it a third more.
  const auto is_ptx = [](std::string_view argument) { return argument.ends_with(".ptx"); };
  constexpr int kMapFrom = 1 << 17;
  if (std::none_of(argv + 1, argv + argc, is_ptx)) mallopt(M_MMAP_THRESHOLD, kMapFrom);
#endif
  return devlink::app::RunDriver(std::vector<std::string>(argv + 1, argv + argc));
}
