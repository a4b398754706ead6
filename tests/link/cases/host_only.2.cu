// SPDX-License-Identifier: Apache-2.0
__global__ void Kernel(int* p) { *p = 4; }
