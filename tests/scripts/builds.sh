#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds of some size: programs with a static library of 120 device members, and a CMake project of
# 20 units and a device library. Cubins and register files are those that nvlink writes.
# DEVLINK_ALL_TARGETS=1: for every target, which takes some minutes.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
DIFF_PROGRAM="$diff_program"
REAL_NVLINK="$(command -v nvlink)"
VERDICTS="$PWD/verdicts"
export DEVLINK DIFF_PROGRAM REAL_NVLINK VERDICTS
targets=(80 90)
[[ -z ${DEVLINK_ALL_TARGETS-} ]] || targets=(75 80 86 87 89 90 90a)
readonly members=120

# --- Both linkers under nvlink's name, in a toolkit that is else the real one --------------------
toolkit="$PWD/toolkit"
mkdir -p "$toolkit/bin"
for entry in "$CUDA_HOME"/*; do
  [[ $entry == */bin ]] || ln -s "$entry" "$toolkit/"
done
ln -s "$(dirname "$(readlink -f "$(command -v nvcc)")")"/* "$toolkit/bin/"
rm -f "$toolkit/bin/nvlink"
cat >"$toolkit/bin/nvlink" <<'SCRIPT'
#!/usr/bin/env bash
set -uo pipefail
output=; register=; before=; ours=()
for word in "$@"; do
  if [[ $before == -o ]]; then
    output="$word"
    ours+=("$word.ours")
  elif [[ $word == --register-link-binaries=* ]]; then
    register="${word#*=}"
    ours+=("$word.ours")
    [[ ! -f $register ]] || cp "$register" "$register.ours"
  else
    ours+=("$word")
  fi
  before="$word"
done
errors="$(mktemp)"
timeout 60 "$REAL_NVLINK" "$@" 2>"$errors"
status=$?
"$DEVLINK" "${ours[@]}" 2>"$errors.ours"
our_status=$?
verdict=same
[[ $status -eq $our_status ]] || verdict="status $our_status, nvlink $status"
if [[ -n $output && -e $output ]]; then
  "$DIFF_PROGRAM" "$output" "$output.ours" >"$errors.diff" || verdict="other cubin"
fi
[[ -z $register ]] || cmp -s "$register" "$register.ours" || verdict="other register file"
# Of an entry whose stack is unknown nvlink warns once for each call (docs/compatibility.md).
cmp -s <(sed 's/^nvlink/devlink/' "$errors" | awk '!seen[$0]++') \
  <(grep -v '^devlink note' "$errors.ours") || verdict="other messages"
echo "$verdict: $*" >>"$VERDICTS"
if [[ $verdict != same ]]; then
  { echo "$verdict: $*" | cut -c1-500; head -n 8 "$errors.diff" "$errors" "$errors.ours"; } >>"$VERDICTS.why"
fi
cat "$errors" >&2
exit $status
SCRIPT
chmod +x "$toolkit/bin/nvlink"
export PATH="$toolkit/bin:$PATH"

# --- Sources -------------------------------------------------------------------------------------
# nvcc puts <cuda_runtime.h> in front of every unit, and reading it takes most of its time. Device
# functions need none of it but the qualifiers; units with kernels take the real one.
mkdir -p light
cat >light/cuda_runtime.h <<'CUDA'
#pragma once
#include <stddef.h>
#include <stdlib.h>
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include "builtin_types.h"
#include "crt/host_defines.h"
CUDA
light=(-Ilight -Xcompiler -D__COMMON_FUNCTIONS_H__)
codes=()
for target in "${targets[@]}"; do codes+=(-gencode "arch=compute_$target,code=sm_$target"); done

# Weak functions, constants, statics, variables of other units, recursion, indirect calls, shared
# memory, and functions that nobody calls.
cat >shared.h <<'CUDA'
template <int N> __device__ __noinline__ int turn(int x) { return (x << N) ^ (x >> (31 - N)); }
struct Entry { int (*apply)(int); int weight; };
extern __device__ int total;
extern __constant__ int factors[8];
CUDA

# unit PREFIX I COUNT: one of COUNT units, which call each other as a tree does.
unit() {
  local prefix="$1" i="$2" count="$3" left=$((2 * $2 + 1)) right=$((2 * $2 + 2))
  echo '#include "shared.h"'
  [[ $i -ne 0 ]] || echo "__device__ int total = 5; __constant__ int factors[8] = {3, 1, 4, 1, 5};"
  echo "static __device__ int calls_$((i % 3));"
  [[ $((i % 5)) -ne 0 ]] || echo "__constant__ int ${prefix}_table_${i}[4] = {$i, 2, 3};"
  [[ $((i % 7)) -ne 0 ]] || echo "static __device__ __noinline__ int down(int x) { return x < 2 ? x : x * down(x - $i % 5 - 1); }"
  for next in $left $right; do
    [[ $next -ge $count ]] || echo "__device__ int ${prefix}_$next(int);"
  done
  [[ $((i % 11)) -ne 0 || $left -ge $count ]] ||
    echo "__device__ Entry ${prefix}_entry_$i = {${prefix}_$left, $i};"
  echo "__device__ int ${prefix}_$i(int x) {"
  echo "  calls_$((i % 3)) += x; x += turn<$((i % 9 + 1))>(x) * factors[x & 7];"
  [[ $((i % 5)) -ne 0 ]] || echo "  x += ${prefix}_table_${i}[x & 3];"
  [[ $((i % 7)) -ne 0 ]] || echo "  x += down(x & 15);"
  [[ $((i % 13)) -ne 0 ]] || echo "  __shared__ int room[$((i + 4))]; room[x & 3] = x; x += room[x & 1];"
  [[ $((i % 4)) -ne 0 ]] || echo "  total += x;"
  [[ $((i % 11)) -ne 0 || $left -ge $count ]] ||
    echo "  x += ${prefix}_entry_$i.apply(x) + ${prefix}_entry_$i.weight;"
  for next in $left $right; do
    [[ $next -ge $count ]] || echo "  if (x & $next) x += ${prefix}_$next(x);"
  done
  echo "  return x; }"
  echo "__device__ int ${prefix}_spare_$i(int x) { return x / $((i + 2)); }"
}

# program NAME FUNCTION...: kernels, one for each function, and one that nobody launches.
program() {
  local name="$1"
  shift
  for callee in "$@"; do
    echo "__device__ int $callee(int);"
    echo "__global__ void ${name}_$callee(int* p) { *p = $callee(*p) + $callee(p[1]); }"
  done
  echo "__global__ void ${name}_unused(int* p) { *p = 1; }"
  echo "int main() {"
  for callee in "$@"; do echo "  ${name}_$callee<<<1, 1>>>(nullptr);"; done
  echo "}"
}

# --- A library of 120 members, and programs that use parts of it ---------------------------------
mkdir -p parts
for ((i = 0; i < members; ++i)); do unit part $i $members >parts/part_$i.cu; done
program leaf part_100 >leaf.cu
program half part_1 part_61 part_spare_77 >half.cu
program all part_0 part_119 >all.cu
echo '#include <cstdio>' >none.cu
program none >>none.cu
seq 0 $((members - 1)) | xargs -P 2 -I{} nvcc -rdc=true -dc "${light[@]}" -I. "${codes[@]}" \
  -o parts/part_{}.o parts/part_{}.cu
printf '%s\n' leaf half all none | xargs -P 2 -I{} nvcc -rdc=true -dc "${codes[@]}" -o {}.o {}.cu
nvcc -lib -o libparts.a parts/*.o
mkdir -p thin
ar rcsT thin/libthin.a parts/*.o

for target in "${targets[@]}"; do
  for name in leaf half all none; do
    rm -f register.c register.c.ours
    link=("$toolkit/bin/nvlink" "-arch=sm_$target" --register-link-binaries=register.c -o out.cubin)
    "${link[@]}" $name.o libparts.a 2>/dev/null || true
    "${link[@]}" $name.o -L. -lparts -L"$CUDA_HOME/lib64" -lcudadevrt 2>/dev/null || true
    "${link[@]}" -ignore-host-info libparts.a $name.o 2>/dev/null || true
    "${link[@]}" -v $name.o parts/*.o 2>/dev/null || true
  done
done
# Through nvcc, one run of the linker for each target, on the same register file.
"$toolkit/bin/nvcc" "${codes[@]}" -dlink -o half.dlink.o half.o -L. -lparts 2>/dev/null
library_links=$(wc -l <"$VERDICTS")

# --- A CMake project -----------------------------------------------------------------------------
mkdir -p project/light
cp light/cuda_runtime.h project/light/
cp shared.h project/
for ((i = 0; i < 20; ++i)); do unit unit $i 20 | sed 's/^__device__ int total.*//' >project/unit_$i.cu; done
for ((i = 0; i < 8; ++i)); do unit part $i 8 >project/part_$i.cu; done
program first unit_0 part_0 >project/first.cu
program second unit_7 unit_spare_3 part_2 | sed 's/int main/int second/' >project/second.cu
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(builds LANGUAGES CXX CUDA)
foreach(i RANGE 19)
  list(APPEND units unit_${i}.cu)
endforeach()
foreach(i RANGE 7)
  list(APPEND parts part_${i}.cu)
endforeach()
set_source_files_properties(${units} ${parts} PROPERTIES COMPILE_OPTIONS
  "-I${CMAKE_CURRENT_SOURCE_DIR}/light;-Xcompiler;-D__COMMON_FUNCTIONS_H__")
set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)
add_library(parts STATIC ${parts})
add_executable(program first.cu second.cu ${units})
target_link_libraries(program PRIVATE parts)
CMAKE
generator="Unix Makefiles"
! command -v ninja >/dev/null || generator=Ninja
if ! { cmake -G "$generator" -S project -B project/build "-DCMAKE_CUDA_COMPILER=$toolkit/bin/nvcc" \
    "-DCMAKE_CUDA_ARCHITECTURES=$(printf '%s-real;' "${targets[@]}" | sed 's/;$//')" &&
  cmake --build project/build --parallel 2; } >cmake.log 2>&1; then
  tail -n 30 cmake.log
  exit 1
fi

# --- What came of it -----------------------------------------------------------------------------
wanted=$((16 * ${#targets[@]} + ${#targets[@]}))
if [[ $library_links -ne $wanted ]]; then
  echo "$library_links links of the library's programs, $wanted expected"
  exit 1
fi
project_links=$(tail -n "+$((library_links + 1))" "$VERDICTS" | grep -c 'unit_19.*libparts.a' || true)
if [[ $project_links -lt ${#targets[@]} ]]; then
  echo "$project_links links of the CMake project were seen; see its log:"
  tail -n 30 cmake.log "$VERDICTS"
  exit 1
fi
if [[ -e $VERDICTS.why ]]; then
  head -n 100 "$VERDICTS.why"
  echo "$(grep -vc '^same: ' "$VERDICTS") of $(wc -l <"$VERDICTS") links are not nvlink's"
  exit 1
fi
