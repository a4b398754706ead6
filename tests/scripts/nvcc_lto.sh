#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `nvcc -dlto` with devlink in nvlink's place: objects, a device library and an executable of a
# program of several files, in the toolkit as it is installed. Where that is made of wheels, nvcc
# names a folder for libNVVM that is not there, and its own link step fails; devlink's does not. The
# cubin in the executable is the one that nvlink writes when it is told where libNVVM is.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
failures=0

cat >main.cu <<'CUDA'
#include <cstdio>
__device__ int shade(int);
__device__ float blend(float, float);
__global__ void draw(int* p) { *p = shade(*p); }
__global__ void mix(float* p) { *p = blend(p[0], p[1]); }
int render();
int main() {
  draw<<<1, 1>>>(nullptr);
  mix<<<1, 1>>>(nullptr);
  printf("%d\n", render());
}
CUDA
cat >render.cu <<'CUDA'
__device__ int shade(int);
__constant__ int palette[4];
__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = shade(palette[i & 3]);
}
int render() {
  fill<<<1, 32>>>(nullptr, 0);
  return 1;
}
CUDA
cat >shade.cu <<'CUDA'
__device__ int shade(int x) { return x * 3 + 1; }
CUDA
cat >blend.cu <<'CUDA'
__device__ __noinline__ float half(float x) { return x * 0.5f; }
__device__ float blend(float x, float y) { return half(x) + half(y); }
CUDA

# The toolkit once more, with devlink as nvlink. nvcc looks for its tools beside itself.
mkdir -p view/bin
for entry in "$CUDA_HOME"/*; do
  [[ ${entry##*/} == bin ]] || ln -s "$entry" "view/${entry##*/}"
done
# As the wheels of PyPI leave it: libNVVM lies with the other libraries.
as_wheels=
if [[ -f $CUDA_HOME/lib64/libnvvm.so ]]; then
  as_wheels=yes
  rm view/nvvm
  mkdir view/nvvm
  for entry in "$CUDA_HOME"/nvvm/*; do
    [[ ${entry##*/} == lib64 ]] || ln -s "$entry" view/nvvm/
  done
fi
for entry in "$CUDA_HOME"/bin/*; do
  case ${entry##*/} in
    nvlink) ;;
    nvcc | nvcc.profile) cp -L "$entry" view/bin/ ;;
    *) ln -s "$entry" view/bin/ ;;
  esac
done
printf '#!/bin/sh\necho "$*" >>"%s"\nexec "%s" "$@"\n' "$PWD/calls" "$DEVLINK" >view/bin/nvlink
chmod +x view/bin/nvlink

for arch in sm_80 sm_90; do
  rm -rf calls keep && mkdir keep
  for unit in main render shade blend; do
    view/bin/nvcc -dlto -arch=$arch -rdc=true -c $unit.cu -o $unit.o
  done
  view/bin/nvcc -dlto -arch=$arch -lib shade.o blend.o -o libpaint.a
  if ! view/bin/nvcc -dlto -arch=$arch --keep --keep-dir keep main.o render.o -L. -lpaint \
    -o program 2>nvcc.err; then
    echo "$arch: nvcc cannot link with devlink"
    cat nvcc.err
    failures=$((failures + 1))
    continue
  fi
  [[ -x program ]] || { echo "$arch: no program" && failures=$((failures + 1)); }
  if [[ $(wc -l <calls) -ne 1 ]] || ! grep -q -- "-dlto" calls; then
    echo "$arch: devlink was not called as nvlink is"
    cat calls
    failures=$((failures + 1))
  fi
  [[ -n $nvvm ]] || continue
  # The same link by nvlink, which needs to be told where libNVVM is.
  timeout 60 nvlink -m64 -arch=$arch -dlto -nvvmpath="$nvvm" main.o render.o -L. -lpaint \
    -L"$runtime" -lcudadevrt -cpu-arch=X86_64 -o theirs.cubin
  if ! "$diff_program" theirs.cubin keep/*_dlink.$arch.cubin >diff.txt 2>&1; then
    echo "$arch: the cubin in the program is not nvlink's"
    head -n 20 diff.txt
    failures=$((failures + 1))
  fi
done
# nvlink itself does not find libNVVM there.
if [[ -n $as_wheels ]]; then
  rm view/bin/nvlink
  ln -s "$CUDA_HOME/bin/nvlink" view/bin/nvlink
  if view/bin/nvcc -dlto -arch=sm_90 main.o render.o -L. -lpaint -o program 2>nvcc.err ||
    ! grep -q "linker library load error" nvcc.err; then
    echo "nvlink was expected not to find libNVVM"
    cat nvcc.err
    failures=$((failures + 1))
  fi
fi
[[ $failures -eq 0 ]] && echo "objects, library and executable linked for sm_80 and sm_90"
