// SPDX-License-Identifier: Apache-2.0
template <typename T>
__global__ void Fill(T* p, T v) {
  p[threadIdx.x] = v;
}
template __global__ void Fill<int>(int*, int);
template __global__ void Fill<double>(double*, double);
