// SPDX-License-Identifier: Apache-2.0
// Constant bank 2 of device functions is appended to that of every kernel that reaches them.
// archs: 75 80
__device__ double Poly(double x) { return x * 1.2345678901234 + 9.87654321098765 * x * x; }
__device__ double Other(double x) { return (x + 3.14159265358979) * 2.71828182845904; }
__global__ void A(double* p) { *p = Poly(*p) * 0.123456789012345; }
