// SPDX-License-Identifier: Apache-2.0
#include "fft.h"

__device__ float2 twiddles[kPoints / 2];

__device__ float2 Multiply(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
