// SPDX-License-Identifier: Apache-2.0
// With one kernel in the link its list of external functions follows another rule.
#include <cstdio>
__device__ int* Make(int n) { return (int*)malloc(n); }
__device__ void Lost(int* p) { free(p); }
__device__ void (*keep)(int*) = Lost;
