// SPDX-License-Identifier: Apache-2.0
#include "program.h"

static __device__ int state = 2;
static __device__ __noinline__ int Next(int x) { return state ^= x; }

__device__ int StaticB(int x) { return Next(x) + weights[1]; }
