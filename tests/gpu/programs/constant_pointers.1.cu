// SPDX-License-Identifier: Apache-2.0
// Constants of two units that point to instances of templates, one copy of which is linked: nvlink
// leaves pointers to the other null.
// nvlink: loses code
// out: 10 20 10 20
#include "constant_pointers.h"

__device__ unsigned Second(unsigned index);

extern "C" __global__ void run(unsigned* out) {
  for (unsigned i = 0; i < 2; ++i) {
    out[i] = table[i](10);
    out[2 + i] = Second(i);
  }
}
