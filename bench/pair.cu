// SPDX-License-Identifier: Apache-2.0
//
// One unit of a small program: what a JIT adds to the kernel that it made. Compiled once for every
// UNIT; the unit NEXT has the function that this one's kernel calls.
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)

extern __device__ float JOIN(scale_, NEXT)(float x, int n);

__device__ float JOIN(scale_, UNIT)(float x, int n) {
  float sum = x;
  for (int i = 0; i < n; ++i) sum = sum * 0.5f + i * (UNIT + 1);
  return sum;
}

extern "C" __global__ void JOIN(apply_, UNIT)(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = JOIN(scale_, NEXT)(values[i], n);
}
