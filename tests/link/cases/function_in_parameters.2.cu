// SPDX-License-Identifier: Apache-2.0
struct Pair {
  double a, b;
};
struct Wide {
  int v[20];
};
__device__ Pair Swap(Pair p);
__device__ Wide Shift(Wide w, int n);
extern __device__ Pair (*choice)(Pair);
__global__ void Kernel(Pair* p, Wide* w) {
  *p = p[1].a > 0 ? choice(*p) : Swap(*p);
  *w = Shift(*w, 3);
}
