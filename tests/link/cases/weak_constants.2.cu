// SPDX-License-Identifier: Apache-2.0
template <typename T>
__constant__ T values[4] = {1, 2, 3, 4};
__global__ void Second(int* p) { *p = values<int>[*p] + values<short>[*p]; }
