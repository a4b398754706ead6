// SPDX-License-Identifier: Apache-2.0
extern "C" __device__ int plain_name(int x);
namespace {
__device__ int hidden = 4;
__device__ __noinline__ int Get() { return hidden--; }
}  // namespace
extern "C" __global__ void second(int* p) { *p = plain_name(*p) + Get(); }
