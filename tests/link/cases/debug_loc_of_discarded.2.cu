// SPDX-License-Identifier: Apache-2.0
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
__global__ void K2(float* p) { p[0] = Middle(p[2], p[3]); }
