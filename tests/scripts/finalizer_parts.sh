#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Code that is finalized in parts is what it is at once, and what nvlink writes: also where the finalizer changes it,
# where kernels go, and where a part cannot be had.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

cat >a.cu <<'CUDA'
__constant__ double factors[4] = {1, 2, 3, 4};
__device__ int flag;
static __device__ __noinline__ double scaled(double x, int i) { return x / factors[i & 3]; }
__device__ __noinline__ int shared_sum(int x) {
  __shared__ int parts[64];
  parts[threadIdx.x & 63] = x;
  __syncthreads();
  return parts[(threadIdx.x + 1) & 63];
}
__global__ void publish(int* p) { *p = 1; __threadfence(); atomicExch(&flag, 1); }
__global__ void everywhere(int* p) { *p = 1; __threadfence_system(); flag = 2; }
__global__ void divide(double* p, int i) { *p = scaled(*p, i); }
__global__ void sum(int* p) { *p = shared_sum(*p); }
__global__ void sum_twice(int* p) { *p = shared_sum(shared_sum(*p)); }
__global__ void unused(double* p) { *p = scaled(*p, 3) + 1; }
// With functions of the compiler's own, of which the other file has copies.
__global__ void root(float* p, float x) { *p = sqrtf(*p) / x; }
int main() {
  publish<<<1, 1>>>(nullptr);
  everywhere<<<1, 1>>>(nullptr);
  divide<<<1, 1>>>(nullptr, 0);
  sum<<<1, 1>>>(nullptr);
  sum_twice<<<1, 1>>>(nullptr);
  root<<<1, 1>>>(nullptr, 1);
}
CUDA
cat >b.cu <<'CUDA'
extern __device__ int shared_sum(int);
static __device__ __noinline__ double scaled(double x, int i) { return x * i / 7; }
__global__ void loop(float* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = sqrtf(p[i]) / p[0];
}
__global__ void other(double* p, int* q) { *p = scaled(*p, *q); *q = shared_sum(*q); }
void run() {
  loop<<<1, 1>>>(nullptr, 1);
  other<<<1, 1>>>(nullptr, nullptr);
}
CUDA
# All that two kernels reach is theirs together: a jump table, shared memory of both kinds, calls in a circle.
cat >c.cu <<'CUDA'
extern __shared__ int lent[];
__device__ __noinline__ int chosen(int i, const int* p) {
  switch (i) {
    case 0: return p[3] * 7;
    case 1: return p[1] + p[7] / 3;
    case 2: return p[2] - 5 * p[9];
    case 3: return p[8] & p[5];
    case 4: return p[i + 9] ^ 77;
    case 5: return __popc(p[1]);
    case 6: return p[0] << 3;
    case 7: return p[20] % 11;
  }
  return i * 9;
}
__device__ __noinline__ int even(int n, int* p);
__device__ __noinline__ int odd(int n, int* p) { return n == 0 ? chosen(p[2], p) : even(n - 1, p + 1); }
__device__ __noinline__ int even(int n, int* p) { return n == 0 ? 1 : odd(n - 1, p + 2) + 1; }
__device__ __noinline__ int kept(int x) {
  __shared__ int here[48];
  here[threadIdx.x % 48] = x;
  lent[threadIdx.x] = x + 1;
  __syncthreads();
  return here[(threadIdx.x + 1) % 48] + lent[threadIdx.x + 1];
}
__global__ void first(int* p) { *p = even(*p, p + 1) + kept(p[1]); }
#ifdef TWO
__global__ void second(int* p) { *p = odd(*p, p + 1) - kept(p[2]) + chosen(p[3], p + 4); }
#endif
CUDA

# Kernels alone, with memory of their own and in common, called by pointers, and some that go.
cat >d.cu <<'CUDA'
template <int N>
__device__ __noinline__ float helped(float x) {
  return x / (N + 1);
}
template <int N>
__device__ float from_common(float x, int i) {
  __shared__ float common[8 * N + 8];
  common[i & 7] = x;
  __syncthreads();
  return common[(i + N) & 7];
}
template <int N>
__global__ void plain(float* p, int i) {
  __shared__ float own[N + 4];
  own[i & 3] = p[i];
  __syncthreads();
  p[i] = own[(i + 1) & 3] * N + helped<N & 3>(p[i + 1]);
}
template <int N>
__global__ void in_common(float* p, int i) {
  p[i] = from_common<N / 2>(p[i], i) + N;
}
__global__ void goes_dynamic(float* p, int i) {
  extern __shared__ float rest[];
  rest[i] = p[i + 2];
  __syncthreads();
  p[i] = rest[i + 3];
}
__global__ void dynamic(float* p, int i) {
  extern __shared__ float rest[];
  rest[i] = p[i];
  __syncthreads();
  p[i] = rest[i + 1];
}
#ifdef SHARES
__global__ void goes(float* p, int i) { p[i] = from_common<1>(p[i + 1], i); }
#endif
__global__ void goes_too(float* p, int i) { p[i] = helped<9>(p[i + 1]); }
__device__ __noinline__ float one(float x) { return x / 3; }
__device__ __noinline__ float other(float x) { return x * 3; }
__device__ float (*choice[2])(float) = {one, other};
__global__ void by_pointer(float* p, int i) { p[i] = choice[i & 1](p[i]); }
template <int N>
void launch() {
  plain<N><<<1, 1>>>(nullptr, N);
  if (N % 3 == 0) in_common<N><<<1, 1>>>(nullptr, N);
  if constexpr (N > 0) launch<N - 1>();
}
int main() {
  launch<23>();
  dynamic<<<1, 1>>>(nullptr, 1);
  by_pointer<<<1, 1>>>(nullptr, 1);
}
CUDA
failures=0
# same WHAT PARTS WORD...: devlink finalizes in so many parts, by the library and by nvlink, and writes what nvlink does.
same() {
  local what="$1" parts="$2" backend
  shift 2
  nvlink "$@" -o nvlink.cubin
  for backend in nvjitlink nvlink; do
    "$DEVLINK" --log --finalizer-backend=$backend --finalizer-parts="$parts" "$@" -o devlink.cubin 2>log
    if ! "$diff_program" nvlink.cubin devlink.cubin >/dev/null; then
      echo "$what: not nvlink's bytes in $parts parts by $backend" >&2
      failures=$((failures + 1))
    fi
  done
}
# says WHAT TEXT: the last link's log has it.
says() {
  grep -q "$2" log && return
  { echo "$1: '$2' is not in"; grep finalizer log || :; } >&2
  failures=$((failures + 1))
}

for arch in sm_100 sm_120; do
  nvcc -arch=$arch -dc a.cu b.cu
  nvcc -arch=$arch -dc -lineinfo a.cu -o lines_a.o
  nvcc -arch=$arch -dc -lineinfo b.cu -o lines_b.o
  nvcc -arch=$arch -dc -G b.cu -o debug_b.o
  for parts in 2 3; do
    same "$arch" $parts -arch=$arch a.o b.o
    says "$arch" "did its work in $parts parts"
    same "$arch, kernels that go" $parts -arch=$arch -kernels-used=divide,publish,loop -ignore-host-info a.o b.o
  done
  same "$arch, one part" 1 -arch=$arch a.o b.o
  cp devlink.cubin whole.cubin
  same "$arch, more parts than kernels" 100 -arch=$arch a.o b.o
  for words in "" "-DTWO" "-DTWO -lineinfo"; do
    # shellcheck disable=SC2086 # words
    nvcc -arch=$arch -dc $words c.cu
    for parts in 2 4; do
      same "$arch, what kernels share${words:+ ($words)}" $parts -arch=$arch c.o
      says "$arch, what kernels share${words:+ ($words)}" "did its work in $parts parts"
    done
  done
  # Kernels that nobody else has to do with are in one part only.
  nvcc -arch=$arch -dc d.cu
  nvcc -arch=$arch -dc -lineinfo d.cu -o lines_d.o
  nvcc -arch=$arch -dc -DSHARES d.cu -o shares_d.o
  for words in "" lines_ shares_; do
    for parts in 2 4; do
      same "$arch, many kernels ($words)" $parts -arch=$arch ${words}d.o
      says "$arch, many kernels ($words)" "did its work in $parts parts"
    done
  done
  rm -rf steps
  "$DEVLINK" --keep-dir=steps --finalizer-parts=4 -arch=$arch d.o -o devlink.cubin
  for part in steps/7-finalized-*; do
    kernels=$(grep -ao 'plainILi[0-9]*E' "$part" | sort -u | wc -l)
    if [[ $kernels == 24 ]]; then
      echo "$arch: $part has all kernels" >&2
      failures=$((failures + 1))
    fi
  done
  # Of a kernel that goes only the copy that is discarded has shared memory; its name stays.
  for copy in none some; do
    code="ret;"
    [[ $copy == none ]] ||
      code=".reg .b32 x; .shared .align 8 .b8 s[4]; ld.shared.u32 x, [s]; st.shared.u32 [s], x; bar.sync 0; ret;"
    {
      printf '.version 9.0\n.target %s\n.address_size 64\n' $arch
      printf '.weak .entry copied(.param .u64 a) { %s }\n' "$code"
      printf '.visible .entry %s(.param .u64 a) { ret; }\n' first_$copy second_$copy
    } >$copy.ptx
    ptxas -c -arch=$arch $copy.ptx -o $copy.cubin
  done
  same "$arch, copies of a kernel that goes" 2 -arch=$arch -kernels-used=first,second none.cubin some.cubin
  says "$arch, copies of a kernel that goes" "did its work in 2 parts"
  # One file has memory that kernels of the other use, too.
  {
    printf '.version 9.0\n.target %s\n.address_size 64\n' $arch
    printf '.visible .shared .align 4 .b32 box[64];\n.shared .align 4 .b32 other[64];\n'
    printf '.visible .entry %s(.param .u64 a) { .reg .b32 x; .reg .b64 p; ld.param.u64 p, [a]; ld.global.u32 x, [p];
st.shared.u32 [other+8], x; %s bar.sync 0; ld.shared.u32 x, [other+12]; st.global.u32 [p], x; ret; }\n' \
      fills 'st.shared.u32 [box+4], x; ld.shared.u32 x, [box+12]; st.global.u32 [p+4], x;' leaves ''
  } >box.ptx
  {
    printf '.version 9.0\n.target %s\n.address_size 64\n.extern .shared .align 4 .b32 box[64];\n' $arch
    printf '.visible .entry %s(.param .u64 a) { .reg .b32 x; .reg .b64 p; ld.param.u64 p, [a]; ld.global.u32 x, [p];
st.shared.u32 [box+8], x; bar.sync 0; ld.shared.u32 x, [box+12]; st.global.u32 [p], x; ret; }\n' takes gives
  } >user.ptx
  for file in box user; do ptxas -c -arch=$arch $file.ptx -o $file.cubin; done
  for parts in 2 3 4; do
    same "$arch, another file's memory" $parts -arch=$arch box.cubin user.cubin
    says "$arch, another file's memory" "did its work in $parts parts"
    same "$arch, another file's memory, which comes later" $parts -arch=$arch user.cubin box.cubin
  done
  # Of a library much goes: nothing else is finalized.
  {
    printf '.version 9.0\n.target %s\n.address_size 64\n.visible .func large(.param .b64 a) {\n' $arch
    printf '.reg .b64 p; ld.param.b64 p, [a];\n'
    awk 'BEGIN { for (i = 0; i < 5000; ++i) printf "st.volatile.global.u32 [p+%d], %d;\n", 4 * i, i }'
    printf 'ret; }\n'
  } >large.ptx
  ptxas -c -O0 -arch=$arch large.ptx -o large.cubin
  same "$arch, a library" 0 -arch=$arch a.o b.o large.cubin
  says "$arch, a library" "did its work in 1 part of"
  # What can only be had at once.
  for words in -g -r "-kernels-used=sum"; do
    # shellcheck disable=SC2086 # words
    "$DEVLINK" --log --finalizer-parts=2 --compat=nvlink -arch=$arch $words a.o b.o -o devlink.cubin 2>log
    if grep -q "2 parts" log; then
      echo "$arch $words: in parts" >&2
      failures=$((failures + 1))
    fi
  done
  for parts in 2 3; do
    same "$arch, lines" $parts -arch=$arch lines_a.o lines_b.o
    says "$arch, lines" "did its work in $parts parts"
    same "$arch, lines of one file" $parts -arch=$arch a.o lines_b.o
    says "$arch, lines of one file" "did its work in $parts parts"
    same "$arch, lines, kernels that go" $parts -arch=$arch -kernels-used=divide,publish,loop -ignore-host-info \
      lines_a.o lines_b.o
  done
  # Much else of -G says where something lies in code.
  "$DEVLINK" --log --finalizer-parts=2 -arch=$arch lines_a.o debug_b.o -o devlink.cubin 2>log
  if grep -q "2 parts" log; then
    echo "$arch, code of -G: in parts" >&2
    failures=$((failures + 1))
  fi
  # Each part is kept in a cache of its own, and taken from there.
  "$DEVLINK" --cache=kept --finalizer-parts=2 -arch=$arch a.o b.o -o first.cubin
  entries=$(find kept -type f | wc -l)
  "$DEVLINK" --cache=kept --finalizer-parts=2 -arch=$arch a.o b.o -o second.cubin
  cmp whole.cubin first.cubin
  cmp whole.cubin second.cubin
  [[ $(find kept -type f | wc -l) == "$entries" ]] || failures=$((failures + 1))
done
echo "$failures failures"
[[ $failures == 0 ]]
