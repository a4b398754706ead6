// SPDX-License-Identifier: Apache-2.0
__device__ unsigned table[4] = {10, 3, 4, 4};
__device__ unsigned* third = &table[2];
__device__ unsigned total;

__device__ unsigned Add(unsigned value) {
  total += value;
  return total;
}
