#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Link-time optimization in parts (--lto-partitions) of what nvcc makes: the program has the kernels
# that one compilation leaves, whatever decides which these are, and whatever the modules share.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
if [[ -z $nvvm || -z $runtime ]]; then
  echo "no libNVVM where nvlink looks for it, or no libcudadevrt"
  exit 77
fi
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

# Calls in both directions, through a pointer and in a circle; static names that both units have;
# templates, constants, managed and host-visible variables; kernels that nobody launches.
cat >main.cu <<'CUDA'
#include <cstdio>
#include "shared.h"
__device__ int counter;
__managed__ int managed = 3;
static __device__ int hidden = 4;
static __device__ __noinline__ int own(int x) { return x + hidden; }
__device__ __noinline__ int back(int x) { return twice(x) + own(x) + managed; }
__global__ void draw(int* p) { *p = shade(*p) + atomicAdd(&counter, 1) + weights[*p & 3]; }
__global__ void point(int* p) { *p = table[*p & 1](*p); printf("%d\n", *p); }
__global__ void nobody(int* p) { *p = shade(7); }
template __global__ void fill<int>(int*);
int main() {
  int* p = nullptr;
  draw<<<1, 1>>>(p);
  point<<<1, 1>>>(p);
  fill<int><<<1, 1>>>(p);
  return cudaMemcpyFromSymbol(p, counter, 4);
}
CUDA
cat >shared.h <<'CUDA'
#pragma once
typedef int (*Function)(int);
extern __constant__ int weights[4];
extern __device__ Function table[2];
extern __device__ int counter;
__device__ int shade(int);
__device__ int back(int);
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
template <typename T> __global__ void fill(T* p) { *p = twice(*p); }
CUDA
cat >shade.cu <<'CUDA'
#include "shared.h"
__constant__ int weights[4] = {1, 2, 3, 4};
static __device__ int hidden = 5;
static __device__ __noinline__ int own(int x) { return x * hidden; }
__device__ __noinline__ int shade(int x) { return x < 2 ? own(x) : back(x) + shade(x - 1); }
template __global__ void fill<int>(int*);
CUDA
cat >table.cu <<'CUDA'
#include "shared.h"
__shared__ int cache[64];
__device__ Function table[2] = {back, shade};
__global__ void count(int* p) {
  cache[threadIdx.x & 63] = counter;
  __syncthreads();
  *p = cache[63 - (threadIdx.x & 63)] + twice(*p);
}
__global__ void forgotten(int* p) { *p = twice(1); }
void go(int* p) { count<<<1, 1>>>(p); }
CUDA
cat >nested.cu <<'CUDA'
#include "shared.h"
__global__ void child(int* p) { *p = shade(*p); }
__global__ void parent(int* p) { child<<<1, 1>>>(p); }
void start(int* p) { parent<<<1, 1>>>(p); }
CUDA
cat >extra.cu <<'CUDA'
#include "shared.h"
__global__ void extra(int* p) { *p = shade(p[1]); }
CUDA
units=(main shade table nested)
lto=(-gencode "arch=compute_75,code=lto_75" -gencode "arch=compute_100,code=lto_100")
compile() {
  nvcc -w -rdc=true -c "${lto[@]}" -o "protected.$1.o" "$1.cu"
  nvcc -w -rdc=true -c "${lto[@]}" -lineinfo -Xfatbin --compress=false -o "plain.$1.o" "$1.cu"
}
export -f compile
printf '%s\n' "${units[@]}" | xargs -P 2 -I {} bash -euc "lto=(${lto[*]}); compile {}"
nvcc -w -rdc=true -ptx -arch=compute_75 -o extra.ptx extra.cu

# symbols CUBIN TYPE OTHER: names of symbols; OTHER 10 is that of kernels.
symbols() {
  readelf -sW "$1" 2>/dev/null | awk -v type="$2" -v other="$3" \
    '$4 == type && (other == "" || index($0, "<other>: " other "]")) { print $NF }' | sort
}

# same_kernels NAME WORD...: with parts the kernels that are there without.
same_kernels() {
  local name="$1" parts
  shift
  if ! "$DEVLINK" -lto "$@" -o whole.cubin >said 2>&1; then
    fail "$name: the link without parts fails: $(<said)"
    return
  fi
  for parts in 2 3 100; do
    if ! "$DEVLINK" -lto "$@" --lto-partitions=$parts -o parts.cubin >said 2>&1; then
      fail "$name: $parts parts: $(<said)"
      continue
    fi
    if ! diff <(symbols whole.cubin FUNC 10) <(symbols parts.cubin FUNC 10); then
      fail "$name: $parts parts: other kernels"
    fi
    # Variables that nobody uses stay, as in every link; none is missing.
    if ! diff <(comm -23 <(symbols whole.cubin OBJECT "" | grep -v '^\.nv\.') \
      <(symbols parts.cubin OBJECT "")) /dev/null; then
      fail "$name: $parts parts: a variable is missing"
    fi
  done
}

library=("-L$runtime" -lcudadevrt)
for form in plain protected; do
  objects=()
  for unit in "${units[@]}"; do objects+=("$form.$unit.o"); done
  for arch in sm_80 sm_100; do
    name="$form $arch"
    same_kernels "$name" -arch=$arch "${objects[@]}" "${library[@]}"
    # What host code launches decides, also through the linker.
    kernels="$(symbols parts.cubin FUNC 10)"
    [[ ! $kernels =~ nobody|forgotten ]] || fail "$name: a kernel too many"
    [[ $(wc -l <<<"$kernels") -ge 6 ]] || fail "$name: hardly a kernel"
  done
  # Without the device runtime libNVVM sees everything.
  same_kernels "$form without CDP" -arch=sm_80 "${objects[@]:0:3}"
  same_kernels "$form, other code beside it" -arch=sm_80 "${objects[@]:0:3}" extra.ptx
done
objects=(plain.main.o plain.shade.o plain.table.o)
for words in "-kernels-used draw" "-kernels-used nothing" "-variables-used counter" \
  "-kernels-used point -variables-used counter" -ignore-host-info -use-host-info \
  "-g -ignore-host-info" "-g -force-partial-lto" "-maxrregcount 32" "-split-compile 2" "-Ofc min" \
  "-Xnvvm -opt=1" "--compat=nvlink -nvvmpath $nvvm" -force-partial-lto; do
  # shellcheck disable=SC2086 # several words
  same_kernels "$words" -arch=sm_80 $words "${objects[@]}" "${library[@]}"
done
same_kernels "-variables-used, other code" -arch=sm_80 -variables-used counter "${objects[@]}" extra.ptx

# --- What comes of it ------------------------------------------------------------------------------

link=("$DEVLINK" -lto -arch=sm_80 "${objects[@]}")
"${link[@]}" --lto-partitions=3 -maxrregcount 32 --report=report.json -o parts.cubin >said 2>&1
python3 - <<'PY' || fail "registers or stack are wrong: $(<report.json)"
import json
report = json.load(open("report.json"))
kernels = {kernel["name"]: kernel for kernel in report["kernels"]}
assert all(kernel["registers"] <= 32 for kernel in kernels.values())
# The circle leads through two parts.
assert kernels["_Z4drawPi"]["stack_bytes"] is None
inputs = [(i["name"], i["origin"]) for i in report["details"]["inputs"]]
assert inputs == [(f"lto.cubin (plain.{unit}.o)", "compiled") for unit in ("main", "shade", "table")], inputs
PY
if ! "${link[@]}" --lto-partitions=2 -r -o r.cubin >said 2>&1; then fail "-r: $(<said)"; fi
if ! "$DEVLINK" -arch=sm_80 r.cubin -o again.cubin >said 2>&1; then fail "behind -r: $(<said)"; fi
[[ $(symbols again.cubin FUNC 10 | wc -l) -ge 6 ]] || fail "-r: kernels are missing"

# One part and none are what nvlink does.
"${link[@]}" -o whole.cubin >/dev/null 2>&1
for parts in 0 1; do
  "${link[@]}" --lto-partitions=$parts -o one.cubin >/dev/null 2>&1
  cmp whole.cubin one.cubin || fail "--lto-partitions=$parts changes the output"
done
# One module is not cut.
"$DEVLINK" -lto -arch=sm_80 protected.table.o -o one.cubin >one.said 2>&1 || true
"$DEVLINK" -lto -arch=sm_80 protected.table.o --lto-partitions=4 -o cut.cubin >cut.said 2>&1 || true
cmp one.said cut.said || fail "one module: other words"

# The same every time; two definitions of one function are an error that names both parts.
"${link[@]}" --lto-partitions=3 -o a.cubin >/dev/null 2>&1
"${link[@]}" --lto-partitions=3 -o b.cubin >/dev/null 2>&1
cmp a.cubin b.cubin || fail "two links differ"
cp plain.shade.o twin.o
if "${link[@]}" twin.o --lto-partitions=4 -o x.cubin >said 2>&1; then fail "two definitions are linked"; fi
grep -q "Multiple definition of '_Z5shadei' in 'lto.cubin (twin.o)'" said || fail "two definitions: $(<said)"
if "$DEVLINK" -lto -arch=sm_80 plain.main.o plain.table.o --lto-partitions=2 -o x.cubin >said 2>&1; then
  fail "what is undefined is linked"
fi
grep -q "Undefined reference to '_Z5shadei' in 'lto.cubin (plain.main.o)'" said || fail "undefined: $(<said)"

# --- The option -------------------------------------------------------------------------------------

# refused TEXT WORD...: the link fails with that text.
refused() {
  local text="$1" status=0
  shift
  "${link[@]}" "$@" -o x.cubin >said 2>&1 || status=$?
  if [[ $status -ne 1 || $(<said) != *"$text"* ]]; then fail "$*: status $status, $(<said)"; fi
}
refused "--lto-partitions wants a number of parts, not -1" --lto-partitions=-1
refused "'many': expected a number" --lto-partitions=many
refused "out of range" --lto-partitions=99999999999999999999
refused "cannot be used with -emit-ptx" --lto-partitions=2 -emit-ptx
refused "cannot be used with -split-compile-extended" --lto-partitions=2 -split-compile-extended=2
refused "cannot be used with -force-whole-lto" --lto-partitions=2 -force-whole-lto
if "$DEVLINK" -arch=sm_80 --lto-partitions=2 extra.ptx -o x.cubin >said 2>&1; then fail "without -lto it is taken"; fi
grep -q "Conflicting options '--lto-partitions' and 'no -dlto'" said || fail "without -lto: $(<said)"

# --- What is kept ------------------------------------------------------------------------------------

# The script that --keep-dir writes makes texts, cubins and output again.
rm -rf keep
"${link[@]}" --lto-partitions=3 -o x.cubin --keep-dir=keep >/dev/null 2>&1
sh keep/redo.sh >said 2>&1 || fail "--keep-dir: $(<said)"
[[ $(grep -c 'lto.*: the same' said) -ge 3 ]] || fail "--keep-dir compares little: $(<said)"
"${link[@]}" --lto-partitions=3 -o x.cubin --why-input=plain.shade.o >said 2>&1
grep -q "plain.shade.o: its LTO IR was compiled in parts" said || fail "--why-input: $(<said)"

[[ $failures -eq 0 ]] || { echo "$failures failures"; exit 1; }
echo "parts have the kernels of one compilation"
