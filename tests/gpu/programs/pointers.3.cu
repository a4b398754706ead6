// SPDX-License-Identifier: Apache-2.0
__device__ unsigned Cube(unsigned x) { return x * x * x; }

__device__ __noinline__ unsigned Apply(unsigned (*function)(unsigned), unsigned x) {
  return function(x);
}
