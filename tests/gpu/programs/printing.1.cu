// SPDX-License-Identifier: Apache-2.0
// printf of two units: what the device prints comes before what the kernel leaves.
// says: here 1, 0x2a
// says: there 3.5 of text
// out: 17
#include <cstdio>

__device__ int Say(const char* word, double number);

extern "C" __global__ void run(unsigned* out) {
  const int mine = printf("here %d, 0x%x\n", 1, 42);
  out[0] = 10 * Say("text", 3.5) + mine + 5;
}
