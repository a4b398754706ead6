#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Hundreds of command lines, good, bad and odd, with nvlink and with devlink --compat=nvlink: same
# status, text and files. support/command_lines.py has them.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

mkdir inputs
(
  cd inputs
  cat >a.cu <<'CUDA'
#include <cstdio>
__device__ int g = 5;
__constant__ int c[4] = {1, 2, 3, 4};
__shared__ int shared[10];
extern __shared__ int dynamic[];
extern __device__ int foo(int);
__device__ int (*pointer)(int) = foo;
__global__ void kern(int* p) { *p = foo(*p) + g + c[*p] + shared[*p]; }
__global__ void kern2(int* p) { *p = pointer(*p) + dynamic[*p]; printf("%d\n", *p); }
CUDA
  cat >b.cu <<'CUDA'
__device__ int h[10] = {1, 2};
__device__ int* ph = h + 3;
__device__ __noinline__ int leaf(int x, int* p) {
  int a[30];
  for (int i = 0; i < 30; i++) a[i] = p[i];
  for (int i = 0; i < 30; i++) for (int j = 0; j < 30; j++) x += a[i] * a[j] ^ x;
  return x;
}
__device__ int foo(int x) { return h[x] + *ph + leaf(x, h); }
__device__ int bar(int x) { return h[x] - 1; }
CUDA
  cat >u.cu <<'CUDA'
extern __device__ int missing_variable;
__global__ void user(int* p) { *p = missing_variable; }
CUDA
  cat >d.cu <<'CUDA'
__global__ void child(int* p) { *p = 1; }
__global__ void parent(int* p) { child<<<1, 1>>>(p); }
CUDA
  for sm in 80 90 100; do
    for name in a b u d; do
      nvcc -arch=sm_$sm -rdc=true -cubin $name.cu -o $name$sm.cubin
      nvcc -arch=sm_$sm -rdc=true -c $name.cu -o $name$sm.o
    done
  done
  nvcc -arch=compute_80 -rdc=true -c a.cu -o aptx.o
  nvcc -arch=sm_80 -rdc=true -dlto -c a.cu -o alto.o
  nvcc -arch=sm_80 -rdc=true -dlto -c b.cu -o blto.o
  nvcc -arch=sm_90 -rdc=true -dlto -c b.cu -o alto90.o
  ar rc libb.a b80.o b90.o
  ar rc libempty.a
  cp a80.cubin cubin.ptx
  fatbinary --64 --create=fatbin.ptx --image3=kind=elf,sm=80,file=a80.cubin
  printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry p() { ret; }\n' >p.ptx
  printf 'hello\0world' >host.txt
  : >empty.txt
  printf -- '-o x.cubin -w' >words.txt
  printf -- '-arch=sm_80 "a80.cubin" b80.cubin\n' >more.txt
  printf -- '-optf self.txt' >self.txt
  printf -- '-o "x' >open.txt
  mkdir folder
)
nvvm="$nvvm" runtime="$runtime" python3 \
  "$DEVLINK_SOURCE/tests/scripts/support/command_lines.py" "$DEVLINK" "$diff_program" inputs
