// SPDX-License-Identifier: Apache-2.0
__device__ int far_array[10];
__constant__ int far_constant[4] = {9, 8, 7, 6};
