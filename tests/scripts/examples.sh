#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The programs in examples/ that have no test of their own make the bytes that nvlink makes, say what
# is wrong, and leave no file behind a failure.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
bin="$DEVLINK_BUILD/bin"
assembler="$DEVLINK_BUILD/lib/libdevlink_ptxcompiler.so"
for needed in "$bin"/link_{many_targets,on_demand,and_launch,with_math_library} "$assembler"; do
  [[ -e $needed ]] || { echo "there is no $needed"; exit 77; }
done
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
# same A B WHAT
same() { "$diff_program" "$1" "$2" >diff.txt 2>&1 || fail "$3: $(<diff.txt)"; }

mkdir -p folder
cat >caller.cu <<'CUDA'
extern __device__ int callee(int);
extern "C" __global__ void caller(unsigned* p) { p[threadIdx.x] = callee(threadIdx.x); }
CUDA
cat >callee.cu <<'CUDA'
extern __device__ int deeper(int);
__device__ int callee(int x) { return deeper(x) * 3; }
CUDA
echo '__device__ int deeper(int x) { return x + 1; }' >deeper.cu
nvcc -arch=sm_90 -rdc=true -cubin caller.cu
nvcc -arch=compute_90 -rdc=true -ptx -o folder/_Z6calleei.ptx callee.cu
nvcc -arch=sm_90 -rdc=true -cubin -o folder/_Z6deeperi.cubin deeper.cu
ptxas -arch=sm_90 -m64 -c folder/_Z6calleei.ptx -o callee.cubin
nvlink -arch=sm_90 caller.cubin callee.cubin folder/_Z6deeperi.cubin -o expected.cubin

# --- link_on_demand: PTX of the folder is compiled, and what that calls is looked for in its turn.
"$bin/link_on_demand" sm_90 caller.cubin folder ours.cubin "$assembler" || fail "link_on_demand: status $?"
same expected.cubin ours.cubin link_on_demand
mv folder/_Z6deeperi.cubin deeper.cubin
status=0
"$bin/link_on_demand" sm_90 caller.cubin folder none.cubin "$assembler" 2>err || status=$?
[[ $status -eq 1 && ! -e none.cubin ]] || fail "link_on_demand: status $status without the last one"
grep -q "Undefined reference to '_Z6deeperi'" err || fail "link_on_demand: $(<err)"

# --- link_many_targets: many at a time, one library for all, and failures of their own.
nvcc -arch=sm_90 -dc callee.cu deeper.cu
ar rc library.a callee.o deeper.o
list=()
for i in 1 2 3 4 5 6 7 8; do
  echo "extern __device__ int callee(int); extern \"C\" __global__ void k$i(int* p) { *p = callee($i); }" >"k$i.cu"
  list+=("k$i.cu")
done
nvcc -arch=sm_90 -rdc=true -cubin "${list[@]}"
for i in 1 2 3 4 5 6 7 8; do
  nvlink -arch=sm_90 "k$i.cubin" library.a -o "expected$i.cubin"
  echo "out$i.cubin k$i.cubin library.a" >>targets
done
printf '\nbroken.cubin k1.cubin\nmissing.cubin k1.cubin no-such.a library.a\n' >>targets
echo old >broken.cubin
status=0
"$bin/link_many_targets" sm_90 4 targets >out 2>err || status=$?
[[ $status -eq 1 && $(<out) == "8 linked, 2 failed" ]] || fail "link_many_targets: status $status, $(<out)"
for i in 1 2 3 4 5 6 7 8; do same "expected$i.cubin" "out$i.cubin" "link_many_targets, target $i"; done
[[ ! -e broken.cubin && ! -e missing.cubin ]] || fail "link_many_targets: a target that failed has a file"
grep -q "Undefined reference to '_Z6calleei'" err || fail "link_many_targets: $(<err)"
grep -q 'no-such.a' err || fail "link_many_targets: $(<err)"
if ls ./*.new >/dev/null 2>&1; then fail "link_many_targets: temporary files are left"; fi
for words in "sm_90 0 targets" "sm_90 x targets" "sm_1 2 targets" "sm_90 2 no-such-list"; do
  status=0
  # shellcheck disable=SC2086
  "$bin/link_many_targets" $words >/dev/null 2>&1 || status=$?
  [[ $status -eq 2 ]] || fail "link_many_targets $words: status $status"
done

# --- link_and_launch: without a device, with a pretended one that keeps what it is given, with one
# on this machine.
inputs=(caller.cubin callee.cubin deeper.cubin)
mkdir -p driver dump nothing
gcc -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 \
  "$DEVLINK_SOURCE/tests/nvjitlink/pretend_driver.c" -ldl
PRETEND_DUMP="$PWD/dump" LD_LIBRARY_PATH="$PWD/driver" "$bin/link_and_launch" caller "${inputs[@]}" \
  >out || fail "link_and_launch: status $?"
same expected.cubin dump/000.cubin link_and_launch
[[ $(wc -w <out) -eq 32 ]] || fail "link_and_launch: $(<out)"
status=0
"$bin/link_and_launch" caller "${inputs[@]}" >out 2>err || status=$?
if grep -q 'not run: there is no device' out; then
  [[ $status -eq 0 ]] || fail "link_and_launch: status $status"
elif [[ $status -eq 0 ]]; then
  # What the kernel computes, by a real device of this target.
  [[ $(<out) == "$(for i in {0..31}; do printf '%d ' $(((i + 1) * 3)); done)" ]] || fail "link_and_launch: $(<out)"
else
  grep -q 'arch' err || fail "link_and_launch: status $status, $(<err)"  # a device of another target
fi

# --- link_with_math_library: the library's function is part of the kernel.
nvjitlink="$(find "$(dirname "$(command -v nvcc)")/.." -name 'libnvJitLink.so.13' -print -quit 2>/dev/null)"
if [[ -n $nvjitlink ]]; then
  cat >math.cu <<'CUDA'
__device__ float scale(float x) { return x * 1.5f; }
__device__ float unused(float x) { return x * x; }
CUDA
  cat >apply.cu <<'CUDA'
extern __device__ float scale(float);
extern "C" __global__ void apply(float* p) { p[threadIdx.x] = scale(p[threadIdx.x]); }
CUDA
  nvcc -arch=sm_90 -dlto -rdc=true -fatbin -o math.fatbin math.cu
  nvcc -arch=sm_90 -dlto -rdc=true -c -o apply.o apply.cu
  "$bin/link_with_math_library" sm_90 whole.cubin "$nvjitlink" "$assembler" apply.o math.fatbin \
    >out || fail "link_with_math_library: status $?"
  grep -q '^apply: [1-9][0-9]* registers$' out || fail "link_with_math_library: $(<out)"
  # Neither function is in it by name: the one is in the kernel, the other is gone.
  if grep -qa '_Z5scalef\|_Z6unusedf' whole.cubin; then fail "link_with_math_library: it was not joined"; fi
  status=0
  "$bin/link_with_math_library" sm_90 none.cubin "$nvjitlink" "$assembler" apply.o >/dev/null 2>err || status=$?
  [[ $status -eq 1 && ! -e none.cubin ]] || fail "link_with_math_library: status $status without a library"
  grep -q _Z5scalef err || fail "link_with_math_library: $(<err)"
fi
[[ $failures -eq 0 ]]
