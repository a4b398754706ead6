// SPDX-License-Identifier: Apache-2.0
__device__ int Heavy(const volatile int*);
__device__ int Light(int);
__global__ void Direct(int* p) { *p = Heavy(p); }
__global__ void Pointer(int* p) {
  int (*f)(const volatile int*) = p[1] ? Heavy : nullptr;
  *p = f(p);
}
__global__ void Small(int* p) { *p = Light(*p); }
