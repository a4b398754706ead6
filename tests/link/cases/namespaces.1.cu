// SPDX-License-Identifier: Apache-2.0
// Long and nested names, C linkage, an anonymous namespace in both files.
namespace a::rather::deeply::nested::name {
template <typename T>
struct Holder {
  static __device__ int Value(T t) { return (int)t; }
};
}  // namespace a::rather::deeply::nested::name
namespace {
__device__ int hidden = 3;
__device__ __noinline__ int Get() { return hidden++; }
}  // namespace
extern "C" __device__ int plain_name(int x) { return x + Get(); }
__global__ void First(int* p) {
  *p = a::rather::deeply::nested::name::Holder<double>::Value(*p) + Get();
}
