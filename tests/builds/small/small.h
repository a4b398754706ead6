// SPDX-License-Identifier: Apache-2.0
//
// A program of two units and a library, for builds that take long with a larger one.
#pragma once

#include <cuda_runtime.h>

struct Table {
  int (*apply)(int);
  int weight;
};

extern __constant__ Table table[2];
__device__ int Callee(int x);
__device__ int InLibrary(int x);
