// SPDX-License-Identifier: Apache-2.0
// A function and a variable of the same names are in the next unit, too.
#include "program.h"

static __device__ int state = 1;
static __device__ __noinline__ int Next(int x) { return state += x; }

__device__ int StaticA(int x) { return Next(x) + counter; }
