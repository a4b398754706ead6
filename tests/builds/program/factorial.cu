// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ __noinline__ int Factorial(int x) { return x < 2 ? 1 : x * Factorial(x - 1); }
