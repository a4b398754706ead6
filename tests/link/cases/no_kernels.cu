// SPDX-License-Identifier: Apache-2.0
// A file with device functions only: everything dies, variables stay.
__device__ int value = 3;
__device__ int Function(int x) { return x + value; }
