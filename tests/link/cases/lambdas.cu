// SPDX-License-Identifier: Apache-2.0
// Kernel templates with lambdas: entries with long names.
// flags: --extended-lambda
template <typename F>
__global__ void Apply(int* p, F f) {
  p[threadIdx.x] = f(p[threadIdx.x]);
}
void Run(int* p, int n) {
  Apply<<<1, 1>>>(p, [=] __device__(int v) { return v * n; });
  Apply<<<1, 1>>>(p, [] __device__(int v) { return v + 1; });
}
