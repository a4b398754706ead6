// SPDX-License-Identifier: Apache-2.0
// Switch tables in constant bank 2, in a kernel and in a function that two kernels call.
__device__ __noinline__ int Step(int op, int x) {
  switch (op) {
    case 0:
      return x * 3;
    case 1:
      return __popc(x);
    case 2:
      return x ^ 77;
    case 3:
      return x / 9;
    case 4:
      return x << 3;
    case 5:
      return __clz(x);
    case 6:
      return x % 11;
    default:
      return x - 8;
  }
}
__global__ void Run(int* p) { *p = Step(p[1], *p); }
