// SPDX-License-Identifier: Apache-2.0
extern __managed__ int shared_state;
__global__ void See(int* p) { *p = shared_state; }
