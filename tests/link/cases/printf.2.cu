// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
__device__ void Tell(int x);
__global__ void Second() { Tell(2); }
__global__ void Silent(int* p) { *p = 3; }
