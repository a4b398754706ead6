// SPDX-License-Identifier: Apache-2.0
// Single precision slow paths and 64-bit integer division.
__global__ void Float(float* p) { *p = p[1] / p[2] + sqrtf(p[3]) + sinf(p[4]); }
__global__ void Long(long long* p) { *p = p[1] / p[2] + p[3] % p[4]; }
__global__ void Unsigned(unsigned long long* p) { *p = p[1] / p[2] + p[3] % p[4]; }
