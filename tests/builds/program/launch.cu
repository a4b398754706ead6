// SPDX-License-Identifier: Apache-2.0
// A kernel that launches another: needs libcudadevrt.
#include "program.h"

__global__ void Child(int* data) { data[threadIdx.x] += Warp(data[threadIdx.x]); }
__global__ void Parent(int* data) { Child<<<1, 32>>>(data); }

void RunLaunch(int* data) { Parent<<<1, 1>>>(data); }
