// SPDX-License-Identifier: Apache-2.0
// Double division, square root and sine: helper functions with equal names in both files.
__global__ void Divide(double* p) { *p = p[1] / p[2] + sqrt(p[3]); }
__device__ double Wave(double x) { return sin(x) / cos(x); }
