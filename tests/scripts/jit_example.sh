#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/compile_and_link.cc: PTX and cubins become the bytes that nvlink writes for them, no
# program is started, and what is wrong is said.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
example="$DEVLINK_BUILD/bin/compile_and_link"
library="$DEVLINK_BUILD/lib/libdevlink_ptxcompiler.so"
for needed in "$example" "$library"; do
  [[ -e $needed ]] || { echo "there is no $needed"; exit 77; }
done
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

cat >caller.cu <<'CUDA'
extern __device__ int callee(int);
extern "C" __global__ void caller(int* p) { *p = callee(*p); }
CUDA
cat >callee.cu <<'CUDA'
__device__ int callee(int x) { return x * 3; }
CUDA
for arch in 80 90; do
  nvcc -arch=compute_$arch -rdc=true -ptx caller.cu
  nvcc -arch=sm_$arch -rdc=true -cubin callee.cu
  ptxas -arch=sm_$arch -m64 -c caller.ptx -o caller.cubin
  nvlink -arch=sm_$arch caller.cubin callee.cubin -o expected.cubin
  # Nothing is on PATH that could be started.
  PATH='' "$example" sm_$arch "$library" ours.cubin caller.ptx callee.cubin >out
  "$diff_program" expected.cubin ours.cubin >diff.txt || fail "sm_$arch: $(<diff.txt)"
  grep -q '^caller: [1-9][0-9]* registers, 0 bytes spilled$' out || fail "sm_$arch: $(<out)"
done
# expect STATUS TEXT WORD...
expect() {
  local expected="$1" text="$2" status=0
  shift 2
  rm -f none.cubin
  "$example" "$@" >out 2>err || status=$?
  [[ $status -eq $expected && ! -e none.cubin ]] || fail "$*: status $status"
  grep -q -e "$text" err || fail "$*: $(<err)"
}
expect 1 "error   : Undefined reference to '_Z6calleei' in 'caller.ptx'" \
  sm_90 "$library" none.cubin caller.ptx
expect 1 "ptxas fatal   : Unknown option '-nonsense'" \
  sm_90 "$library" none.cubin caller.ptx callee.cubin -- --nonsense
expect 1 NOT_FOUND sm_90 /no/such/library.so none.cubin caller.ptx callee.cubin
expect 1 "cannot read 'none.ptx'" sm_90 "$library" none.cubin none.ptx
expect 1 "cannot read '.'" sm_90 "$library" none.cubin .
expect 1 "'caller.cu' is neither PTX nor" sm_90 "$library" none.cubin caller.cu
sed 's/^\.version .*/.version 98.7/' caller.ptx >later.ptx
expect 1 UNIMPLEMENTED sm_90 "$library" none.cubin later.ptx callee.cubin
[[ $failures -eq 0 ]]
