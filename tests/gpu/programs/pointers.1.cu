// SPDX-License-Identifier: Apache-2.0
// Calls through pointers: a table of functions of three units, one chosen by the host, and
// recursion, whose stack only the linker knows.
// set: chosen 2
// out: 11 20 1000 1000 120
typedef unsigned (*Function)(unsigned);

__device__ unsigned Plus(unsigned x) { return x + 1; }
__device__ unsigned Twice(unsigned x);
__device__ unsigned Cube(unsigned x);
__device__ unsigned Factorial(unsigned n);
__device__ Function table[3] = {Plus, Twice, Cube};
__device__ unsigned chosen = 0;

__device__ unsigned Apply(Function function, unsigned x);

extern "C" __global__ void run(unsigned* out) {
  for (unsigned i = 0; i < 3; ++i) out[i] = table[i](10);
  out[3] = Apply(table[chosen], 10);
  out[4] = Factorial(5);
}
