// SPDX-License-Identifier: Apache-2.0
// Managed variables keep their mark; one is used from another file.
__managed__ int shared_state = 5;
__managed__ double field[4];
__global__ void Touch() { shared_state += 1; }
