// SPDX-License-Identifier: Apache-2.0
// Structures by value and results in memory: prototypes with many kinds of arguments.
struct Pair {
  double a, b;
};
struct Wide {
  int v[20];
};
__device__ Pair Swap(Pair p) { return {p.b, p.a}; }
__device__ Wide Shift(Wide w, int n) {
  Wide r;
  for (int i = 0; i < 20; ++i) r.v[i] = w.v[(i + n) % 20];
  return r;
}
__device__ Pair (*choice)(Pair) = Swap;
