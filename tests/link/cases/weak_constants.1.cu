// SPDX-License-Identifier: Apache-2.0
// Weak constant tables of a variable template: a duplicate's bytes stay in constant memory.
template <typename T>
__constant__ T values[4] = {1, 2, 3, 4};
__global__ void First(int* p) { *p = values<int>[*p]; }
