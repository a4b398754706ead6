// SPDX-License-Identifier: Apache-2.0
__device__ int Callee(int x) { return 3 * x; }
