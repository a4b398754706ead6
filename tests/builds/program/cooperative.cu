// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

#include "program.h"

__global__ void Cooperative(int* data) {
  auto grid = cooperative_groups::this_grid();
  data[grid.thread_rank()] += Mix(data[0]);
  grid.sync();
  if (grid.thread_rank() == 0) data[0] += data[1];
}

void RunCooperative(int* data) {
  void* arguments[] = {&data};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Cooperative), 1, 32, arguments);
}
