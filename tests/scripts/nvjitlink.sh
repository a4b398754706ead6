#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Our libnvJitLink.so.13 and NVIDIA's: what they export, and what they answer to the cases of
# tests/nvjitlink/cases.txt, line by line and byte by byte. Where they differ stands in
# tests/nvjitlink/differences.txt. Then what ours does beside NVIDIA's and in its place.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}
readonly ours="$DEVLINK_BUILD/lib/nvjitlink/libnvJitLink.so.13"
readonly cases="$DEVLINK_BUILD/bin/devlink-nvjitlink-cases"
readonly tests="$DEVLINK_SOURCE/tests/nvjitlink"
if [[ ! -f $ours ]]; then
  echo "built without libnvJitLink.so.13"
  exit 77
fi

# --- What it exports and needs -------------------------------------------------------------------
nm --dynamic --defined-only "$ours" | awk '{ print $3 }' | sort >exported
{
  for function in Create Destroy AddData AddFile Complete GetLinked{Cubin,Ptx,LTOIR}{,Size} \
    Get{Error,Info}Log{,Size}; do
    echo "nvJitLink$function@@libnvJitLink.so.13"
    for release in 0 1 2 3 4 5; do
      echo "__nvJitLink${function}_13_$release@@libnvJitLink.so.13"
    done
  done
  echo nvJitLinkVersion@@libnvJitLink.so.13
  echo __nvJitLinkAPI@@libnvJitLink.so.13
  echo libnvJitLink.so.13
  echo devlink_nvjitlink@@DEVLINK_0
  echo DEVLINK_0
} | sort | diff - exported || fail "exports something else"
dynamic="$(readelf --dynamic --wide "$ours")"
grep -q 'SONAME.*\[libnvJitLink.so.13\]' <<<"$dynamic" || fail "another SONAME"
if grep -q '^DEVLINK_STATIC_DEPENDENCIES:BOOL=ON' "$DEVLINK_BUILD/CMakeCache.txt"; then
  foreign="$(grep NEEDED <<<"$dynamic" |
    grep -vE '\[(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-x86-64\.so\.2)\]' || true)"
  [[ -z $foreign ]] || fail "needs more than the C library: $foreign"
fi

readonly theirs="${CUDA_HOME-}/lib64/libnvJitLink.so.13"
if [[ -z ${CUDA_HOME-} || ! -f $theirs ]] || ! command -v nvcc >/dev/null; then
  echo "what it exports is right; no CUDA toolkit with libnvJitLink.so.13 to compare it with"
  exit 77
fi
release="$(nvcc --version)"
if [[ $release != *V13.0.88* ]]; then
  echo "what it exports is right; the toolkit is not 13.0.88, whose answers are expected"
  exit 77
fi

# --- Inputs --------------------------------------------------------------------------------------
mkdir inputs theirs ours
cd inputs
cat >k.cu <<'CUDA'
extern __device__ int f(int);
__device__ int counter = 3;
__global__ void k1(int *p) { *p = f(*p) + counter; }
__global__ void k2(int *p) { *p = 7; }
CUDA
echo '__device__ int f(int x) { return 3 * x; }' >f.cu
echo '__device__ int f(int x) { return 5 * x; }' >g.cu
echo '__global__ void w(int *p) { *p = p[1] * 2; }' >w.cu
echo '__global__ void m(float *p) { p[0] = p[1] / p[2] + sqrtf(p[3]) * p[4] + 1e-39f; }' >m.cu
cat >s.cu <<'CUDA'
__shared__ int buffer[64];
__constant__ int steps[4] = {1, 2, 3, 4};
extern __shared__ int more[];
__device__ int h(int i) {
  buffer[i] = steps[i & 3] + more[i];
  __syncthreads();
  return buffer[63 - i];
}
CUDA
cat >t.cu <<'CUDA'
#include <cstdio>
extern __device__ int h(int);
typedef int (*Function)(int);
__device__ Function table[2] = {h, h};
__global__ void t(int *p) {
  p[threadIdx.x] = table[p[0] & 1](threadIdx.x) + h(3);
  printf("%d\n", p[0]);
}
CUDA
echo 'hello world' >text
: >zero
echo 'int host_only;' | gcc -x c -c - -o host.o
ar rc host.a host.o
cp "$CUDA_HOME/lib64/libcudadevrt.a" .

# Every command of a list, as many at a time as there are processors.
run_all() { xargs -d '\n' -P "$(nproc)" -I{} bash -c '{}' || fail "inputs cannot be made"; }
{
  for unit in k f g s t w m; do echo "nvcc -arch=compute_75 -rdc=true -ptx -o $unit.ptx $unit.cu"; done
  for unit in k f g m; do
    echo "nvcc -gencode arch=compute_75,code=lto_75 -rdc=true -ltoir -o $unit.ltoir $unit.cu"
  done
  echo 'nvcc -gencode arch=compute_90,code=lto_90 -rdc=true -ltoir -o k90.ltoir k.cu'
  echo 'nvcc -arch=compute_90 -rdc=true -ptx -o f90.ptx f.cu'
  for unit in k f; do
    echo "nvcc -gencode arch=compute_75,code=[sm_90,compute_75] -rdc=true -c -o $unit.o $unit.cu"
    echo "nvcc -gencode arch=compute_75,code=[sm_90,compute_75] -rdc=true -fatbin -o $unit.fatbin $unit.cu"
    echo "nvcc -gencode arch=compute_90,code=[sm_90,lto_90] -rdc=true -c -o $unit.lto.o $unit.cu"
  done
  echo 'nvcc -gencode arch=compute_90,code=lto_90 -rdc=true -c -o only.lto.o f.cu'
  echo 'nvcc -gencode arch=compute_75,code=sm_75 -rdc=true -c -o only75.o f.cu'
  echo 'nvcc -gencode arch=compute_75,code=sm_75 -rdc=true -fatbin -o only75.fatbin f.cu'
  echo 'nvcc -arch=sm_90 -rdc=true -fatbin -o w.fatbin w.cu'
  echo 'nvcc -arch=sm_90 -cubin -o w.90.cubin w.cu'
} | run_all
for arch in 75 80 90 100 120; do
  for unit in k f g s t; do echo "ptxas -arch=sm_$arch -c -o $unit.$arch.cubin $unit.ptx"; done
done | run_all
ar rc f.a f.o
ar rc only75.a only75.o
sed 's/ret;/nothing;/' f.ptx >bad.ptx

# --- The same cases with both --------------------------------------------------------------------
"$cases" "$theirs" "$tests/cases.txt" ../theirs >../theirs/out 2>../theirs/err &
"$cases" "$ours" "$tests/cases.txt" ../ours >../ours/out 2>../ours/err || fail "our cases end"
wait $! || fail "NVIDIA's cases end"
cd ..
# NVIDIA's library speaks on standard error of the process; ours never does.
[[ ! -s ours/err ]] || fail "ours speaks: $(cat ours/err)"
python3 "$DEVLINK_SOURCE/tests/scripts/support/nvjitlink_compare.py" theirs ours \
  "$tests/differences.txt" "$DEVLINK_BUILD/bin/devlink-diff" >compared || {
  cat compared
  exit 1
}

# --- Relocatable output means the same, though its bytes differ ----------------------------------
cat >again.txt <<'CASES'
again create -arch=sm_90 ; data 1 ../theirs/relocatable.cubin ; data 1 f.90.cubin ; complete
again_ours create -arch=sm_90 ; data 1 ../ours/relocatable.cubin ; data 1 f.90.cubin ; complete
again_lto create -arch=sm_90 ; data 1 ../ours/lto_partial.cubin ; data 1 f.90.cubin ; complete
CASES
mkdir again again_ours
(cd inputs && "$cases" "$theirs" ../again.txt ../again >../again/out)
"$DEVLINK_BUILD/bin/devlink-diff" again/again.cubin again/again_ours.cubin >difference || true
# The record of the first link stays in the second one's file.
others="$(grep -vE '^$|^identical$|^\.note\.nv\.tkinfo:$|note type=0x7d0' difference || true)"
[[ -z $others ]] || fail "a relocatable cubin is linked to another program: $others"
# So is one of LTO IR, which 13.0 makes none of: both libraries link it, and to the same.
(cd inputs && "$cases" "$ours" ../again.txt ../again_ours >../again_ours/out)
grep -q '^again_lto: complete 0$' again/out || fail "relocatable LTO code cannot be linked"
"$DEVLINK_BUILD/bin/devlink-diff" again/again_lto.cubin again_ours/again_lto.cubin >/dev/null ||
  fail "relocatable LTO code is linked to another program"

# --- Linked LTO IR -------------------------------------------------------------------------------
cat >ltoir.txt <<'CASES'
made create -arch=sm_90 -lto ; data 3 k.ltoir ; data 3 f.ltoir ; complete ; ltoir
part create -arch=sm_90 -lto -r ; data 3 k.ltoir ; complete ; ltoir
early create -arch=sm_90 -lto ; data 3 k.ltoir ; ltoir
none create -arch=sm_90 ; data 1 f.90.cubin ; complete ; ltoir
protected create -arch=sm_90 -lto ; data 5 k.lto.o ; data 5 f.lto.o ; complete ; ltoir
CASES
mkdir ltoir
(cd inputs && "$cases" "$ours" ../ltoir.txt ../ltoir) >ltoir/out
grep -q '^made: ltoir size 0 get 0$' ltoir/out || fail "no linked LTO IR"
grep -q '^early: ltoir size 6 get 6$' ltoir/out || fail "linked LTO IR of nothing"
grep -q '^none: ltoir size 3 get 3$' ltoir/out || fail "linked LTO IR without -lto"
grep -q '^protected: ltoir size 3 get 3$' ltoir/out || fail "linked LTO IR of protected IR"
cat >linked.txt <<'CASES'
linked create -arch=sm_90 -lto ; data 3 ../ltoir/madeltoir.ltoir ; complete
linked_part create -arch=sm_90 -lto ; data 3 ../ltoir/partltoir.ltoir ; data 3 f.ltoir ; complete
CASES
(cd inputs && "$cases" "$theirs" ../linked.txt ../ltoir) >>ltoir/out
for name in linked linked_part; do
  cmp "ltoir/$name.cubin" theirs/lto.cubin || fail "$name LTO IR is another program"
done

# --- In NVIDIA's place ---------------------------------------------------------------------------
# With ours in front of the process, NVIDIA's is still found for what only it can do: protected LTO
# IR and the finalizer.
grep -E '^(lto_object|cubin_100|lto_and_cubin_100|threads) ' "$tests/cases.txt" >preloaded.txt
mkdir preloaded
(cd inputs && LD_PRELOAD="$ours" "$cases" "$ours" ../preloaded.txt ../preloaded) >preloaded/out
for name in lto_object cubin_100 lto_and_cubin_100; do
  cmp "preloaded/$name.cubin" "ours/$name.cubin" || fail "$name differs with LD_PRELOAD"
done
# Told that it is itself NVIDIA's, it says so, and does without.
mkdir itself
(cd inputs && DEVLINK_NVJITLINK="$ours" "$cases" "$ours" ../preloaded.txt ../itself) >itself/out
grep -q "^lto_object: complete 5$" itself/out || fail "it compiles protected LTO IR by itself"
grep -q "libdevlink's own library" itself/out || fail "it does not say that it is none of NVIDIA's"
grep -q '^cubin_100: complete 0$' itself/out || fail "no link for sm_100 without a finalizer"

# --- Nothing is lost -----------------------------------------------------------------------------
if command -v valgrind >/dev/null; then
  strip -o stripped.so "$ours"
  grep -E '^(cubin_90|undefined|types_text|option_foo|fatbin|failed_then_used) ' "$tests/cases.txt" >lost.txt
  mkdir lost
  (cd inputs && DEVLINK_NVPTXCOMPILER=none valgrind --quiet --leak-check=full --error-exitcode=9 \
    --trace-children=no "$cases" ../stripped.so ../lost.txt ../lost) >lost/out 2>lost/err ||
    fail "valgrind finds: $(grep '^==' lost/err)"
  grep -q 'ended the process with 9' lost/out && fail "valgrind finds: $(grep '^==' lost/err)"
else
  echo "no valgrind: leaks were not looked for"
fi
cat compared
