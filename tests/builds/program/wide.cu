// SPDX-License-Identifier: Apache-2.0
// More constants than fit into instructions, and arguments that are passed in memory.
#include "program.h"

struct Many {
  int values[40];
};

static __device__ __noinline__ int SumOf(Many many, double factor) {
  int sum = 0;
  for (const int value : many.values) sum += static_cast<int>(value * factor);
  return sum;
}

__device__ int Wide(int x) {
  Many many = {};
  many.values[x & 31] = x;
  return SumOf(many, 1.2345678901234567 * x) + SumOf(many, 2.7182818284590452 * x);
}
