// SPDX-License-Identifier: Apache-2.0
// An instance of a template of which the first unit's copy is linked and to which a variable of the
// second points: nvlink leaves the function out, and the pointer is null.
// nvlink: loses code
// out: 107 407
#include "template_pointers.h"

extern __device__ Function table[1];

__device__ __noinline__ unsigned Unused(unsigned x) { return Square<unsigned>(x); }

extern "C" __global__ void run(unsigned* out) {
  out[0] = table[0](10);
  out[1] = table[0](20);
}
