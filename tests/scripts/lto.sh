#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Link-time optimization of what nvcc makes, by nvlink and by devlink: the same PTX, the same cubin,
# the same register file, the same messages. Every case is linked from raw .ltoir files, from fat
# binaries, from host objects with plain members and from objects as `nvcc -dlto -c` leaves them.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
if [[ -z $nvvm ]]; then
  echo "no libNVVM where nvlink looks for it"
  exit 77
fi
[[ -z $runtime ]] || runtime="-L$runtime -lcudadevrt"
failures=0
declare -A links texts
mkdir nv us

cat >main.cu <<'CUDA'
#include <cstdio>
__device__ int shade(int);
__device__ float curve(float, float);
__device__ int counter;
__global__ void draw(int* p) { *p = shade(*p) + atomicAdd(&counter, 1); }
__global__ void bend(float* p) { *p = curve(p[0], p[1]) / p[2]; printf("%f\n", *p); }
__global__ void nobody(int* p) { *p = shade(7); }
int main() { draw<<<1, 1>>>(nullptr); bend<<<1, 1>>>(nullptr); }
CUDA
cat >shade.cu <<'CUDA'
__constant__ int weights[4] = {1, 2, 3, 4};
template <typename T> __device__ T twice(T x) { return x + x; }
__device__ __noinline__ int shade(int x) { return weights[x & 3] * twice(x); }
CUDA
cat >curve.cu <<'CUDA'
template <typename T> __device__ T twice(T x) { return x + x; }
__shared__ float cache[32];
__device__ float curve(float x, float y) {
  cache[threadIdx.x & 31] = x * y + x;
  __syncthreads();
  return sqrtf(cache[(threadIdx.x + 1) & 31]) * twice(y) / x;
}
CUDA
cat >nested.cu <<'CUDA'
__device__ int shade(int);
__device__ __noinline__ int last(int x) {
  __shared__ int s[100];
  s[threadIdx.x] = x;
  __syncthreads();
  return s[99 - threadIdx.x];
}
__global__ void passed(int* p) { *p = shade(last(*p)); }
__global__ void parent(int* p) { p[1] = last(p[1]); passed<<<1, 1>>>(p); }
__global__ void other(int* p) { *p = shade(2); }
__global__ void forgotten(int* p) { *p = shade(3); }
int main() { parent<<<1, 1>>>(nullptr); other<<<1, 1>>>(nullptr); }
CUDA
cat >late.cu <<'CUDA'
__global__ void late(int* p) { *p = 5; }
void go(int* p) { late<<<1, 1>>>(p); }
CUDA
cat >extra.cu <<'CUDA'
extern __device__ int shade(int);
__global__ void extra(int* p) { *p = shade(p[1]); }
CUDA
# One member serves all targets below sm_100, as libNVVM's IR for those is of one kind.
lto=(-gencode "arch=compute_75,code=lto_75" -gencode "arch=compute_100,code=lto_100")
units=(main shade curve nested late)
compile() {
  local unit="$1"
  nvcc -rdc=true -c "${lto[@]}" -o "protected.$unit.o" "$unit.cu"
  nvcc -rdc=true -c "${lto[@]}" -Xfatbin --compress=false -o "plain.$unit.o" "$unit.cu"
  nvcc -rdc=true -fatbin "${lto[@]}" -Xfatbin --compress=false -o "$unit.fatbin" "$unit.cu"
  nvcc -rdc=true -ltoir -gencode arch=compute_75,code=lto_75 -o "$unit.75.ltoir" "$unit.cu"
  nvcc -rdc=true -ltoir -gencode arch=compute_100,code=lto_100 -o "$unit.100.ltoir" "$unit.cu"
}
export -f compile
printf '%s\n' "${units[@]}" | xargs -P 2 -I {} bash -euc "lto=(${lto[*]}); compile {}"
nvcc -rdc=true -ptx -arch=compute_75 -o extra.ptx extra.cu

# report WHAT: a link that is not as nvlink's.
report() {
  echo "$1"
  head -n 12 diff.txt our.err nv.err 2>/dev/null || true
  failures=$((failures + 1))
}

# same KIND ARCH ARGUMENT...: both linkers.
same() {
  local kind="$1" arch="$2" status=0 theirs=0 like
  shift 2
  # Without, references are left to the next link.
  [[ " $* " == *" -r "* ]] && like=(--compat=nvlink) || like=()
  rm -f nv/out us/out nv.reg us.reg diff.txt
  timeout 120 nvlink -arch="$arch" -lto -nvvmpath="$nvvm" --register-link-binaries=nv.reg \
    -o nv/out "$@" 2>nv.err || theirs=$?
  # nvlink writes a whole program of host objects and then misses the device runtime.
  if grep -q "expected libcudadevrt object" nv.err; then
    theirs=0
    sed -i '/expected libcudadevrt object/d' nv.err
  fi
  "$DEVLINK" -arch="$arch" -lto -nvvmpath="$nvvm" --register-link-binaries=us.reg -o us/out \
    "${like[@]}" "$@" 2>our.err || status=$?
  sed -i 's/^nvlink/devlink/' nv.err
  sed -i '/^devlink note /d' our.err
  # With -emit-ptx, and where it misses the device runtime, nvlink writes no register file.
  if [[ $status -ne $theirs ]] || ! cmp -s nv.err our.err ||
    { [[ -f nv.reg ]] && ! cmp -s nv.reg us.reg; }; then
    report "$kind $arch $*: status $status, nvlink $theirs"
    return
  fi
  [[ -f nv/out ]] || return 0
  if [[ " $* " == *" -emit-ptx "* ]]; then
    cmp nv/out us/out >diff.txt 2>&1 || report "$kind $arch $*: another PTX"
    texts[$kind]=$((${texts[$kind]-0} + 1))
  else
    "$diff_program" nv/out us/out >diff.txt 2>&1 || report "$kind $arch $*: another cubin"
    links[$kind]=$((${links[$kind]-0} + 1))
  fi
}

# again KIND ARCH ARGUMENT...: with -r; what comes out can be linked.
again() {
  local kind="$1" arch="$2"
  shift 2
  same "$kind" "$arch" -r "$@"
  "$DEVLINK" -arch="$arch" -o final.cubin us/out 2>our.err ||
    report "$kind $arch -r $*: what was made cannot be linked again"
}

# inputs KIND ARCH UNIT...: the files of one kind.
inputs() {
  local kind="$1" ir=75 unit
  [[ $2 =~ ^sm_1 ]] && ir=100
  shift 2
  for unit in "$@"; do
    case $kind in
      ltoir) echo "$unit.$ir.ltoir" ;;
      fatbin) echo "$unit.fatbin" ;;
      *) echo "$kind.$unit.o" ;;
    esac
  done
}

for kind in ltoir fatbin plain protected; do
  for arch in sm_75 sm_80 sm_90 sm_90a sm_100 sm_120; do
    mapfile -t program < <(inputs $kind $arch main shade curve)
    mapfile -t nested < <(inputs $kind $arch nested shade)
    for flags in "" "-r" "-Xnvvm -ftz=1" "-maxrregcount 32" "-ignore-host-info" "-Ofc min"; do
      # shellcheck disable=SC2086 # words of a command line
      same $kind $arch -emit-ptx $flags "${program[@]}"
    done
    # Whole programs.
    # shellcheck disable=SC2086
    for flags in "" "-Xptxas -O1" "-use-host-info"; do
      same $kind $arch $flags "${program[@]}" $runtime
    done
    # Code that is linked again, or to other code, or to the device runtime.
    same $kind $arch -maxrregcount=40 -Xptxas -lineinfo "${program[@]}"
    case $kind in
      ltoir | fatbin)
        # nvlink has no place for the result of IR that is in no host object.
        ;;
      *)
        nvcc -rdc=true -cubin -arch=$arch -o extra.$arch.cubin extra.cu
        nvcc -rdc=true -c -arch=$arch -o extra.$arch.o extra.cu
        again $kind $arch "${program[@]}"
        again $kind $arch -g "${program[@]}"
        same $kind $arch "${program[@]}" extra.$arch.cubin
        same $kind $arch extra.$arch.o "${program[@]}"
        same $kind $arch "${program[0]}" extra.$arch.o "${program[@]:1}"
        # Below sm_90 nvlink loses .ptx files.
        [[ $arch =~ ^sm_9 ]] && same $kind $arch "${program[@]}" extra.ptx
        same $kind $arch -force-partial-lto "${program[@]}"
        # shellcheck disable=SC2086
        same $kind $arch "${nested[@]}" $runtime
        ;;
    esac
  done
done
# An object that `ld -r` made has several ids. Of its code nvlink takes the first only, which nobody
# needs here.
ld -r -o joined.o plain.shade.o plain.curve.o
# shellcheck disable=SC2086
[[ -z $runtime ]] || same plain sm_80 plain.late.o joined.o $runtime
# What nvlink loses, or cannot link. `like` makes the cubin that is right.
like() {
  local arch="$1"
  shift
  timeout 120 nvlink -arch="$arch" -lto -nvvmpath="$nvvm" -o like.cubin "$@" 2>nv.err
}
ours() {
  local arch="$1"
  shift
  rm -f diff.txt us/out
  if ! "$DEVLINK" -arch="$arch" -lto -nvvmpath="$nvvm" -o us/out "$@" 2>our.err ||
    ! "$diff_program" like.cubin us/out >diff.txt 2>&1; then
    report "$arch $*: not linked as it should be"
  fi
}
for arch in sm_80 sm_90 sm_100; do
  mapfile -t objects < <(inputs plain $arch main shade curve)
  mapfile -t files < <(inputs ltoir $arch main shade curve)
  # IR in files of its own, beside other code.
  like $arch extra.$arch.cubin "${objects[@]}"
  ours $arch extra.$arch.cubin "${files[@]}"
  like $arch "${objects[@]}" extra.$arch.cubin
  ours $arch "${files[@]}" extra.$arch.cubin
  # A device runtime that no host object precedes.
  mapfile -t objects < <(inputs plain $arch nested shade)
  mapfile -t files < <(inputs ltoir $arch nested shade)
  # shellcheck disable=SC2086
  like $arch -ignore-host-info "${objects[@]}" $runtime
  # shellcheck disable=SC2086
  ours $arch -ignore-host-info "${files[@]}" $runtime
  # Pieces in one order.
  mapfile -t objects < <(inputs plain $arch main shade curve nested)
  for run in 1 2 3 4; do
    "$DEVLINK" -arch=$arch -lto -nvvmpath="$nvvm" -split-compile-extended=4 -o pieces.$run \
      -ignore-host-info "${objects[0]}" "${objects[1]}" "${objects[2]}" 2>our.err
    cmp -s pieces.1 pieces.$run || report "$arch: another output with -split-compile-extended"
  done
  # Words that libNVVM would misread.
  for words in -Xopt,-unroll-cuont=4 -Xopt -Xopt,-help; do
    status=0
    "$DEVLINK" -arch=$arch -lto -nvvmpath="$nvvm" -Xnvvm "$words" -o refused "${files[1]}" \
      2>our.err || status=$?
    [[ $status -eq 1 && ! -e refused ]] || report "$arch: '$words' ends with $status"
  done
done
for kind in ltoir fatbin plain protected; do
  echo "$kind: ${texts[$kind]-0} texts of PTX and ${links[$kind]-0} cubins compared"
done
echo "$failures differences"
[[ $failures -eq 0 ]]
