// SPDX-License-Identifier: Apache-2.0
__device__ int numbers[5];
