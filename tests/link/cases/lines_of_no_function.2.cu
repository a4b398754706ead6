// SPDX-License-Identifier: Apache-2.0
// flags: -lineinfo
__device__ int value = 3;
