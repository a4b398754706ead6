// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__constant__ int weights[16] = {3, 1, 4, 1, 5, 9, 2, 6};
static __constant__ double thirds[3] = {1.0 / 3, 2.0 / 3, 1.0};

__device__ int Constant(int x) { return weights[x & 15] + static_cast<int>(thirds[x % 3] * x); }
