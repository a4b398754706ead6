// SPDX-License-Identifier: Apache-2.0
// Functions to which only a pointer leads that is called as another type: nvlink leaves out what
// they call.
// nvlink: loses code
// out: 33 8
typedef unsigned (*Function)(unsigned);
typedef unsigned long long (*Other)(unsigned long long);

__device__ unsigned Outer(unsigned x);
__device__ Function place;

__device__ __noinline__ unsigned Pointed(unsigned x) { return Outer(x) + 1; }

extern "C" __global__ void run(unsigned* out) {
  place = Pointed;
  out[1] = sizeof(place);
  __threadfence();
  out[0] = static_cast<unsigned>((*(Other volatile*)&place)(10));
}
