// SPDX-License-Identifier: Apache-2.0
// Inline assembly: special registers, predicates, labels, fences.
__device__ __noinline__ unsigned Smem() {
  unsigned r;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(r));
  return r;
}
__global__ void Kernel(unsigned* p) {
  __shared__ int s[10];
  s[*p] = 1;
  asm volatile("{ .reg .pred q; setp.ne.u32 q, %0, 0; @q membar.sys; }" ::"r"(*p));
  *p = Smem() + s[p[1]];
}
