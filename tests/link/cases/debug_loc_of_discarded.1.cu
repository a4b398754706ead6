// SPDX-License-Identifier: Apache-2.0
// The second copy of a weak function is discarded: its lines and frames have no relocations any
// more, its variables in `.debug_loc` are those of the first.
// flags: -G
template <typename T>
__device__ __noinline__ T Middle(T a, T b) {
  T result;
  if (a > b) {
    T difference = b - a;
    result = a + difference;
  } else {
    T sum = a + b;
    result = sum * 2;
  }
  return result;
}
__global__ void K1(float* p) { p[0] = Middle(p[1], p[2]); }
