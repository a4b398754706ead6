#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Mistakes that people make: devlink says what nvlink says, and what to do. docs/diagnostics.md lists them.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

cat >a.cu <<'CUDA'
extern __device__ int helper(int);
__global__ void k(int* p) { *p = helper(*p); }
CUDA
echo '__device__ int helper(int x) { return x * 3; }' >b.cu
echo 'int plain() { return 1; }' >h.cc
cat >cdp.cu <<'CUDA'
__global__ void child(int* p) { *p = 1; }
__global__ void parent(int* p) { child<<<1, 1>>>(p); }
CUDA
{
  for i in {1..100}; do echo "extern __device__ int f$i(int);"; done
  echo '__global__ void k(int* p) {'
  for i in {1..100}; do echo "*p = f$i(*p);"; done
  echo '}'
} >many.cu
nvcc -arch=sm_80 -dc a.cu b.cu cdp.cu many.cu
nvcc -arch=sm_90 -dc b.cu -o b90.o
nvcc -arch=sm_80 -c b.cu -o whole.o
nvcc -gencode arch=compute_80,code=lto_80 -dc b.cu -o blto.o
nvcc -arch=sm_80 -c h.cc -o h.o

failures=0
# mistake ADVICE WORD...: nvlink's lines and status, and a note that says ADVICE.
mistake() {
  local advice="$1" wanted=0 found=0
  shift
  nvlink "$@" >wanted.txt 2>&1 || wanted=$?
  "$DEVLINK" "$@" >found.txt 2>&1 || found=$?
  sed 's/^nvlink /devlink /' wanted.txt >lines.txt
  if [[ $wanted != "$found" ]] || ! grep -v '^devlink note    : ' found.txt | cmp -s - lines.txt; then
    echo "$*: nvlink ends with $wanted, devlink with $found"
    diff lines.txt found.txt || true
    failures=$((failures + 1))
  elif ! grep -qF "devlink note    : $advice" found.txt; then
    echo "$*: nobody says: $advice"
    cat found.txt
    failures=$((failures + 1))
  fi
  # As nvlink, without a word of advice.
  "$DEVLINK" --compat=nvlink "$@" >found.txt 2>&1 || true
  cmp -s lines.txt found.txt || { echo "$*: other lines with --compat=nvlink"; failures=$((failures + 1)); }
}

mistake 'add the object or library that defines what is undefined' -arch=sm_80 a.o -o x
mistake 'the cubin for sm_90 does not run on sm_80' -arch=sm_80 a.o b90.o -o x
mistake 'it is part of libcudadevrt: add -lcudadevrt, which is linked last' -arch=sm_80 cdp.o -o x
mistake "there is no device code in 'h.o'" -arch=sm_80 a.o h.o -o x
mistake "no input can call the device code in 'whole.o': compile it with nvcc -rdc=true" -arch=sm_80 a.o whole.o -o x
mistake "'b.o' is given twice" -arch=sm_80 a.o b.o b.o -o x
mistake 'the LTO IR for lto_80 would do for sm_80, but only in a link with LTO' -arch=sm_80 a.o blto.o -o x
mistake "did you mean '-maxrregcount'?" -arch=sm_80 a.o b.o -o x -maxregcount=32
mistake 'No such file or directory' -arch=sm_80 a.o b.o -o /nowhere/x.cubin
mistake 'name the target, such as -arch=sm_90' a.o b.o -o x
mistake '100 names are undefined; notes explain the first 20' -arch=sm_80 many.o -o x
echo "11 mistakes, $failures failures"
[[ $failures == 0 ]]
