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
mistake "1 input brought nothing: 'h.o' (no device code)" -arch=sm_80 a.o h.o -o x
mistake "no input can call the device code in 'whole.o': compile it with nvcc -rdc=true" -arch=sm_80 a.o whole.o -o x
mistake "'b.o' is given twice" -arch=sm_80 a.o b.o b.o -o x
mistake 'the LTO IR for lto_80 would do for sm_80, but only in a link with LTO' -arch=sm_80 a.o blto.o -o x
mistake "did you mean '-maxrregcount'?" -arch=sm_80 a.o b.o -o x -maxregcount=32
mistake 'No such file or directory' -arch=sm_80 a.o b.o -o /nowhere/x.cubin
mistake 'name the target, such as -arch=sm_90' a.o b.o -o x
mistake '100 names are undefined; notes explain the first 20' -arch=sm_80 many.o -o x
head -c 200 /dev/zero | tr '\0' x >words.txt
: >zero.o
mistake "4 inputs brought nothing: -lnowhere (no such library), 'words.txt' (not an ELF, PTX or archive file), 'zero.o' (empty), 'whole.o' (code that no input can call)" \
  -arch=sm_80 -v a.o b.o words.txt zero.o whole.o -lnowhere -o x
echo short >short.txt
mistake "'short.txt' is not an ELF, PTX or archive file: it has only 6 bytes" -arch=sm_80 a.o b.o short.txt -o x
count=13
if [[ -n $nvvm ]]; then
  nvcc -gencode arch=compute_80,code=lto_80 -dc a.cu -o alto.o
  nvcc -gencode arch=compute_80,code=lto_80 -dc many.cu -o manylto.o
  lto=(-arch=sm_80 -lto "-nvvmpath=$nvvm")
  mistake "called by k(int*)" "${lto[@]}" alto.o -o x
  mistake "'_Z6helperi' is helper(int)" "${lto[@]}" alto.o h.o -o x
  mistake "1 input brought nothing: 'h.o' (no device code)" "${lto[@]}" alto.o h.o -o x
  mistake 'undefined, too: f2(int), f3(int)' "${lto[@]}" manylto.o -o x
  count=$((count + 4))
fi

# A tool that is not there: what to do, and each way to name it does.
nvcc -arch=sm_80 -dc -ptx b.cu -o b.ptx
ptxas="$(command -v ptxas)"
alone=(env -i "$DEVLINK" -arch=sm_80 --ptx-backend=ptxas b.ptx -o x)
"${alone[@]}" >found.txt 2>&1 || true
for way in --ptxas-path DEVLINK_PTXAS --nvptxcompiler-path DEVLINK_NVPTXCOMPILER --nvjitlink-path DEVLINK_NVJITLINK; do
  grep -q -- "^devlink note .*$way" found.txt || { echo "nobody names $way"; failures=$((failures + 1)); }
done
"${alone[@]}" "--ptxas-path=$ptxas" || failures=$((failures + 1))
env -i "DEVLINK_PTXAS=$ptxas" "${alone[@]:2}" || failures=$((failures + 1))
env -i DEVLINK_PTXAS=/nowhere "${alone[@]:2}" "--ptxas-path=$ptxas" || failures=$((failures + 1))
env -i "$DEVLINK" -arch=sm_80 --lto-backend=nvvm -lto alto.o -o x >found.txt 2>&1 || true
grep -q '^devlink note .*-nvvmpath.*DEVLINK_NVVM' found.txt || { cat found.txt; failures=$((failures + 1)); }
echo "$count mistakes, $failures failures"
[[ $failures == 0 ]]
