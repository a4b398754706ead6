// SPDX-License-Identifier: Apache-2.0
#include "declarations.h"

__device__ int InLibrary(int x);
__device__ int (*pointer)(int) = InLibrary;
__device__ int counter = 3;

__device__ __attribute__((noinline)) int Callee(int x) { return pointer(x) + ++counter; }
