// SPDX-License-Identifier: Apache-2.0
__device__ int Far(int x) { return x * 2; }
