#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What nvlink does not link, or its library crashes on: a second name of a function that nothing
# uses. And what nobody does: to link what -r -preserve-relocs wrote.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
finalizer="$(find "$(dirname "$(command -v nvcc)")/.." -name 'libnvJitLink.so.13' -print -quit 2>/dev/null)"
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

# A second name that nothing uses, of a function that stays: nvlink ends with an internal error, and
# the library that finalizes code crashes.
cat >alias.ptx <<'PTX'
.version 9.0
.target sm_75
.address_size 64
.visible .func unused;
.visible .func used { ret; }
.alias unused, used;
.visible .func table { call used; ret; }
.visible .entry k { call table; call used; ret; }
PTX
for arch in sm_80 sm_90 sm_100 sm_120; do
  ptxas -c -arch=$arch -o alias.cubin alias.ptx
  if nvlink -arch=$arch -o nvlink.out alias.cubin >said 2>&1; then
    fail "nvlink links an unused alias for $arch: docs/compatibility.md says it does not"
  fi
  for options in "" --compat=nvlink; do
    # shellcheck disable=SC2086
    if ! "$DEVLINK" $options -arch=$arch -o out.cubin alias.cubin >said 2>&1; then
      fail "an unused alias for $arch, options '$options': $(cat said)"
    elif [[ ! -s out.cubin ]]; then
      fail "an unused alias for $arch: no file"
    elif [[ $arch == sm_1* && -z $options && -n $finalizer ]] && ! grep -q "nothing uses 'unused'" said; then
      fail "an unused alias for $arch: no note says why it is not finalized"
    fi
    rm -f out.cubin
  done
done

# What -r -preserve-relocs wrote is linked as what -r wrote.
cat >shared.cu <<'CUDA'
extern __shared__ int outer[];
__shared__ int inner[16];
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ __noinline__ int f(int x) { return inner[x] + weights[x]; }
__global__ void k(int* p) {
  __shared__ int own[7];
  own[threadIdx.x] = *p;
  inner[threadIdx.x & 15] = outer[1];
  __syncthreads();
  *p = f(own[3]) + weights[2];
}
CUDA
for arch in sm_80 sm_90 sm_100; do
  nvcc -rdc=true -cubin -arch=$arch -o shared.cubin shared.cu
  nvlink -r -preserve-relocs -arch=$arch -o kept.cubin shared.cubin >said 2>&1
  for step in "" -r; do
    # shellcheck disable=SC2086
    nvlink $step -arch=$arch -o nvlink.out kept.cubin
    # shellcheck disable=SC2086
    if ! "$DEVLINK" $step --compat=nvlink -arch=$arch -o out.cubin kept.cubin >said 2>&1; then
      fail "'$step' of a file with resolved relocations for $arch: $(cat said)"
    elif ! "$DEVLINK_BUILD/bin/devlink-diff" nvlink.out out.cubin >difference; then
      fail "'$step' of a file with resolved relocations for $arch: $(head -5 difference)"
    fi
  done
done
[[ $failures == 0 ]]
