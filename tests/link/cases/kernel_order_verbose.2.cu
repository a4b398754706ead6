// SPDX-License-Identifier: Apache-2.0
__global__ void later(int* p) { *p = 1; }
