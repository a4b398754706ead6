// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int Math(int x) {
  const double y = sin(static_cast<double>(x)) * pow(1.5, x) + sqrtf(static_cast<float>(x));
  return static_cast<int>(y) + x / 7 + static_cast<int>(static_cast<long long>(x) * x % 1000003);
}
