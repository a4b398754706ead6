// SPDX-License-Identifier: Apache-2.0
// flags: -G
__device__ int B(int x) {
  int y = x * 2;
  return y + 1;
}
