// SPDX-License-Identifier: Apache-2.0
// Of a kernel whose calls have no end -v prints its own frame.
// link-flags: -v
// expect: warning
__device__ __noinline__ int Twice(int n) { return n < 2 ? n : Twice(n - 1) + Twice(n - 2) + 3; }
__global__ void Framed(int* p) {
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = p[i];
  *p = Twice(a[*p & 15]);
}
__global__ void Frameless(int* p) { *p = Twice(*p); }
