// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory under names of other types and alignments in two files.
extern __shared__ double values[];
__device__ double Get(int i) { return values[i]; }
