#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# --compat=nvlink: where devlink differs from nvlink on purpose (docs/compatibility.md), the option
# makes it write nvlink's bytes and words and end with its status. And declarations that contradict
# each other, all pairs of them: the same messages without the option.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
failures=0
links=0

fail() {
  failures=$((failures + 1))
  echo "$*"
}

# run LIKE PROGRAM ARGUMENT...: the same file name for both, as -g records it.
run() {
  local status=0
  mkdir -p "$1"
  rm -f "$1"/*
  "${@:2}" -o "$1/out.cubin" >"$1/text" 2>&1 || status=$?
  sed -i 's/^devlink /nvlink /' "$1/text"
  echo "status $status" >>"$1/text"
}
# same A B: words, status and file.
same() {
  cmp -s "$1/text" "$2/text" || return 1
  if [[ -f $1/out.cubin || -f $2/out.cubin ]]; then
    "$diff_program" "$1/out.cubin" "$2/out.cubin" >"$2/difference" 2>&1
  fi
}
# link_thrice ARGUMENT...: by nvlink, with the option and without it, there without notes.
link_thrice() {
  links=$((links + 1))
  run nv nvlink "$@"
  run compat "$DEVLINK" --compat=nvlink "$@"
  run default "$DEVLINK" "$@"
  sed -i '/^nvlink note /d' default/text
}
# row WHAT ARGUMENT...: with the option like nvlink, without it not.
row() {
  link_thrice "${@:2}"
  if ! same nv compat; then
    fail "$1: --compat=nvlink is not as nvlink (< nvlink, > devlink): $(diff nv/text compat/text)" \
      "$(head -5 compat/difference 2>/dev/null)"
  fi
  ! same nv default || fail "$1: nothing differs any more; see docs/compatibility.md"
}
# alike ARGUMENT...: both as nvlink, but for notes.
alike() {
  link_thrice "$@"
  same nv compat || fail "--compat=nvlink $*: $(diff nv/text compat/text)"
  same nv default || fail "$*: $(diff nv/text default/text)"
}
# ptx NAME ARCH TEXT: NAME.ptx and NAME.cubin. Targets of three digits came with later versions of PTX.
ptx() {
  local version=8.0
  [[ $2 != sm_1?? ]] || version=8.8
  printf '.version %s\n.target %s\n.address_size 64\n%s\n' "$version" "$2" "$3" >"$1.ptx"
  ptxas -arch="$2" -c "$1.ptx" -o "$1.cubin"
}
# flip FILE BYTE VALUE NEW: a copy with one byte changed.
flip() {
  cp "$1" "$4"
  # shellcheck disable=SC2059  # the byte is the format
  printf "\\x$3" | dd of="$4" bs=1 seek="$2" conv=notrunc status=none
}

# --- A function to which only a variable of another file points -----------------------------------
mkdir table
cat >table/body.h <<'CODE'
template <typename T> __device__ __noinline__ T f(T x) { return x * x + 7; }
typedef int (*Pointer)(int);
CODE
printf '%s\n' '#include "body.h"' '__device__ int unused(int x) { return f<int>(x); }' >table/first.cu
printf '%s\n' '#include "body.h"' '__device__ Pointer table[] = {f<int>};' >table/second.cu
printf '%s\n' '#include "body.h"' 'extern __device__ Pointer table[];' \
  '__global__ void k(int* p, int i) { p[0] = table[i](p[1]); }' >table/third.cu
for arch in sm_80 sm_100; do
  for part in first second third; do
    nvcc -arch=$arch -rdc=true -cubin table/$part.cu -o table/$part.$arch.cubin
  done
  row "a pointer in a variable" -arch=$arch table/{first,second,third}.$arch.cubin
  grep -aq _Z1fIiET_S0_ default/out.cubin || fail "$arch: the function is lost"
  # In two steps, of which the first cannot know.
  "$DEVLINK" -arch=$arch -r table/{first,second}.$arch.cubin -o table/part.$arch.cubin
  "$DEVLINK" -arch=$arch table/{part,third}.$arch.cubin -o table/steps.cubin 2>/dev/null
  grep -aq _Z1fIiET_S0_ table/steps.cubin || fail "$arch: the function is lost in two steps"
  # Where its own file's body stays, nvlink has it.
  alike -arch=$arch table/{second,first,third}.$arch.cubin
done

# --- Pointers in constants to what is linked from another file -------------------------------------
cat >constant.h <<'CODE'
typedef int (*Pointer)(int);
template <int N> __device__ __noinline__ int f(int x) { return x * N + clock(); }
static __constant__ Pointer table[2] = {f<1>, f<2>};
CODE
for arch in sm_80 sm_100; do
  for i in 1 2; do
    printf '#include "constant.h"\n__global__ void k%s(int* p) { *p = table[*p](1); }\n' $i >c$i.cu
    nvcc -arch=$arch -rdc=true -cubin c$i.cu -o c$i.cubin
  done
  row "constants that point to another file's copy" -arch=$arch c1.cubin c2.cubin
  readelf -rW default/out.cubin >constant.text 2>/dev/null
  pointers=$(sed -n "/'\.rela\?\.nv\.constant3'/,/^$/p" constant.text | grep -c '_Z1fILi[12]EEii')
  [[ $pointers -eq 4 ]] || fail "$arch: $pointers of 4 pointers in constants"
  "$DEVLINK" -arch=$arch c1.cubin c2.cubin -o constant.out 2>constant.text
  grep -q "constants hold pointers such as that to '_Z1fILi[12]EEii', of which " constant.text ||
    fail "$arch: no note on pointers in constants"
done

# Code of a relative is NVIDIA's finalizer's to make, which has neither: nvlink's file, and a note.
for name in constant table/third; do
  for i in 1 2; do
    case $name in
      constant) source="$PWD/c$i.cu" ;;
      *) source="$PWD/table/$([[ $i -eq 1 ]] && echo second || echo third).cu" ;;
    esac
    printf '#include "%s"\n__global__ void wide%s(double* p) { *p = p[1] * p[2] + p[3]; }\n' \
      "$source" $i >wide.cu
    nvcc -arch=sm_100 -rdc=true -cubin wide.cu -o wide$i.cubin
  done
  inputs=(wide1.cubin wide2.cubin)
  [[ $name == constant ]] || inputs=(table/first.sm_100.cubin "${inputs[@]}")
  alike -arch=sm_103 "${inputs[@]}"
  "$DEVLINK" -arch=sm_103 "${inputs[@]}" -o wide.out 2>wide.text
  grep -q ", and so does NVIDIA's finalizer, which this link needs" wide.text ||
    fail "$name for a relative: no note"
done

# --- What only functions whose address is taken call ----------------------------------------------
cat >behind.cu <<'CODE'
typedef int (*Pointer)(int);
__device__ __noinline__ int inner(int x) { return x * 3 + clock(); }
__device__ __noinline__ int outer(int x) { return inner(x) + inner(x + 1); }
__device__ __noinline__ int pointed(int x) { return outer(x) + 1; }
__device__ Pointer place;
__global__ void k() { place = pointed; }
CODE
for arch in sm_80 sm_100; do
  nvcc -arch=$arch -rdc=true -cubin behind.cu -o behind.cubin
  row "code behind a pointer that no kernel calls" -arch=$arch behind.cubin
  readelf -SrW default/out.cubin >behind.text 2>/dev/null
  for name in _Z5inneri _Z5outeri; do
    grep -q "\.text\.$name" behind.text || fail "$arch: $name is lost behind a pointer"
    grep -qE " $name( \+ 0)?\$" behind.text || fail "$arch: a call of $name is lost"
  done
  "$DEVLINK" -arch=$arch behind.cubin -o behind.out 2>behind.text
  grep -q "only pointers lead to '_Z5outeri' (called by '_Z7pointedi') and to 1 more: " \
    behind.text || fail "$arch: no note on what stays behind a pointer"
  # A kernel that calls such functions comes to them.
  printf '#include "behind.cu"\n__global__ void caller(int* p) { *p = place(*p); }\n' >caller.cu
  nvcc -arch=$arch -rdc=true -cubin caller.cu -o caller.cubin
  alike -arch=$arch caller.cubin
  # Nobody has the pointer.
  sed 's/__global__ void k/__device__ void unused/' behind.cu >unused.cu
  echo '__global__ void other() {}' >>unused.cu
  nvcc -arch=$arch -rdc=true -cubin unused.cu -o unused.cubin
  alike -arch=$arch unused.cubin
done
# Where it cannot stay, the link is nvlink's, with a note: something in it is not defined, or NVIDIA's
# finalizer is needed.
sed 's/return x \* 3 + clock();/return missing(x);/; 1i __device__ int missing(int x);' behind.cu >lacks.cu
nvcc -arch=sm_80 -rdc=true -cubin lacks.cu -o lacks.cubin
alike -arch=sm_80 lacks.cubin
printf '#include "behind.cu"\n__global__ void wide(double* p) { *p = p[1] * p[2] + p[3]; }\n' >wide.cu
nvcc -arch=sm_100 -rdc=true -cubin wide.cu -o wide.cubin
alike -arch=sm_103 wide.cubin
for name in lacks:sm_80 wide:sm_103; do
  "$DEVLINK" -arch=${name#*:} ${name%:*}.cubin -o behind.out 2>behind.text
  grep -q "only pointers lead to '_Z5outeri' (called by '_Z7pointedi') and to 1 more: .* and so does " \
    behind.text || fail "$name: no note on what goes behind a pointer"
done

# --- What is left out without a word --------------------------------------------------------------
for sm in 75 80 86 90; do ptx k$sm sm_$sm ".visible .entry k$sm() { ret; }"; done
head -c 500 k80.cubin >cut.cubin
: >empty.cubin
: >empty.ptx
nvlink -arch=sm_80 k80.cubin -o linked.cubin
ar rc linked.a linked.cubin
row "truncated cubin" -arch=sm_80 k80.cubin cut.cubin
# nvlink links what nvcc -ewp makes, but not where it is called an object.
echo '__global__ void whole(int* p) { *p = 1; }' >whole.cu
nvcc -arch=sm_80 -ewp -cubin whole.cu -o whole.cubin
cp whole.cubin whole.o
row "what nvcc -ewp makes, called an object" -arch=sm_80 k80.cubin whole.o
# One with two views makes nvlink crash.
for size in 60 1000; do
  head -c $size behind.cubin >cut100.cubin
  for option in '' --compat=nvlink; do
    # shellcheck disable=SC2086  # no word where there is none
    run default "$DEVLINK" $option -arch=sm_100 behind.cubin cut100.cubin
    grep -q '^status 1$' default/text || fail "$size bytes of a cubin $option: no error"
    [[ ! -f default/out.cubin ]] || fail "$size bytes of a cubin $option: an output"
  done
done
row "empty cubin" -arch=sm_80 k80.cubin empty.cubin
row "empty PTX" -arch=sm_80 k80.cubin empty.ptx
row "executable cubin" -arch=sm_80 k80.cubin linked.cubin
row "executable cubin in an archive" -arch=sm_80 k80.cubin linked.a
row "PTX below sm_90" -arch=sm_80 k80.cubin k75.ptx
row "PTX below sm_90, with what the cubin has" -arch=sm_75 k75.cubin k75.ptx
row "PTX below sm_90, alone and -v" -arch=sm_75 -v k75.ptx
alike -arch=sm_90 k75.ptx k90.cubin

# --- Kernels are left out -------------------------------------------------------------------------
for i in 1 2 3; do
  cat >c$i.cu <<CUDA
__constant__ int c${i}[4] = {1, 2, 3, 4};
__global__ void k$i(int* p) { *p = c${i}[*p]; }
void go$i(int* p) { k$i<<<1, 1>>>(p); }
CUDA
  nvcc -arch=sm_80 -rdc=true -dc c$i.cu -o c$i.o
done
row "equal constants" -arch=sm_80 c1.o c2.o c3.o

ptx one sm_80 '.visible .global .u64 place;
.visible .func g { .reg .u64 %r; mov.u64 %r, place; st.global.u64 [%r], %r; ret; }
.visible .entry other() { call g; ret; }
.visible .entry wanted() { .reg .u64 %r; mov.u64 %r, other; st.global.u64 [place], %r; ret; }'
row "one kernel is wanted, the address of another taken" -arch=sm_80 -kernels-used=wanted one.cubin
"$DEVLINK" -arch=sm_80 -kernels-used=wanted one.cubin -o one.out 2>one.text
grep -q "kernels stay beside 'wanted', the only one that is asked for, 'other' among them: " one.text ||
  fail "no note on what nvlink loses where one kernel is asked for"

# --- Words ----------------------------------------------------------------------------------------
ptx circles sm_80 '.visible .func r; .visible .func a;
.visible .func r { call r; ret; }
.visible .func a { call r; ret; }
.visible .entry k() { call a; call r; call a; ret; }'
row "stacks without end" -arch=sm_80 circles.cubin
ptx called sm_80 '.extern .func f(.param .b32 x);
.visible .entry k() { .param .b32 q; call f, (q); ret; }'
ptx variable sm_80 '.visible .global .align 4 .b8 f[4];
.visible .entry l(.param .u64 p) { .reg .u64 %r; mov.u64 %r, f; st.global.u64 [%r], %r; ret; }'
row "a variable that another file calls" -arch=sm_80 variable.cubin called.cubin
alike -arch=sm_80 called.cubin variable.cubin

# The command line: what is said before any input is opened.
for target in lto_80 lto_90a lto_77 compute_86 sm_86; do
  for words in "" -report-arch "-report-arch -emit-ptx" "-use-host-info -ignore-host-info -report-arch" \
    "-suppress-debug-info -report-arch" -foo=bar --foo=bar -x= -=; do
    for inputs in "" nowhere.cubin; do
      # shellcheck disable=SC2086  # several words
      alike -arch=$target $words $inputs
    done
  done
done
alike -arch=lto_80 -lto nowhere.cubin

# --- Headers --------------------------------------------------------------------------------------
ptx k100 sm_90 '.visible .entry k100() { ret; }'
flip k100.cubin 49 64 k100.cubin.new && mv k100.cubin.new k100.cubin
for target in compute_75 compute_80 compute_90; do
  for sm in 75 80 86 90 100; do alike -arch=$target k$sm.cubin; done
done
# For virtual targets of three digits nvlink takes nothing that has three itself.
sed 's/sm_90/sm_100/; s/^\.version .*/.version 9.0/' k90.ptx >real100.ptx
ptxas -arch=sm_100 -c real100.ptx -o real100.cubin
for target in compute_100 compute_120; do
  for input in real100.cubin real100.ptx k90.ptx; do row "three digits" -arch=$target $input; done
done
for place in 30 ff; do
  flip k90.cubin 51 $place strange.cubin
  alike -arch=sm_90 strange.cubin
  alike -arch=compute_90 strange.cubin
done

# `.nv.compat` begins with records of four bytes; an unknown tag is as good as none.
at="$(LC_ALL=C grep -obUaP '\x02\x09.\x00\x02\x02\x01\x00\x02\x05' k90.cubin || true)"
at="${at%%:*}"
if [[ -n $at ]]; then
  sed 's/k90/l90/' k90.ptx >l90.ptx
  ptxas -arch=sm_90 -c l90.ptx -o l90.cubin
  for record in 4 8 12 16 20; do
    flip k90.cubin $((at + record + 1)) 21 strange.cubin
    alike -arch=sm_90 strange.cubin
    alike -arch=sm_90 strange.cubin l90.cubin
    alike -arch=sm_90 l90.cubin strange.cubin
    alike -arch=sm_90 -Werror l90.cubin strange.cubin
    alike -arch=sm_90 -disable-infos l90.cubin strange.cubin
    # Values, forms and a tag that no ptxas of 13.0 writes.
    for change in "0 01" "0 03" "1 08" "2 15" "2 f0" "3 02"; do
      flip k90.cubin $((at + record + ${change% *})) "${change#* }" strange.cubin
      alike -arch=sm_90 strange.cubin
      alike -arch=sm_90 strange.cubin l90.cubin
      alike -arch=sm_90 l90.cubin strange.cubin
    done
  done
else
  fail "no compatibility record as expected"
fi

# --- Declarations that contradict each other ------------------------------------------------------
variable() {
  ptx "v_$1" sm_80 "$2; .visible .entry v_$1(.param .u64 p) {
    .reg .u64 %r; mov.u64 %r, x; st.global.u64 [%r], %r; ret; }"
}
variable extern ".extern .global .align 4 .b8 x[4]"
variable unsized ".extern .global .align 4 .b8 x[]"
variable weak ".weak .global .align 4 .b8 x[4]"
variable common ".common .global .align 4 .b8 x[4]"
variable larger_common ".common .global .align 4 .b8 x[8]"
variable strong ".visible .global .align 4 .b8 x[4]"
variable larger ".visible .global .align 4 .b8 x[8]"
variable init ".visible .global .align 4 .b8 x[4] = {1, 2}"
function_of() {
  ptx "f_$1" sm_80 "$2 .visible .entry f_$1(.param .u64 p) { $3 ret; }"
}
take='.reg .u64 %r; mov.u64 %r, f; st.global.u64 [%r], %r;'
pass='.param .b32 q; call f, (q);'
function_of taken ".extern .func f;" "$take"
function_of taken_weak ".weak .func f { ret; }" "$take"
function_of taken_strong ".visible .func f(.param .b64 x) { ret; }" "$take"
function_of called ".extern .func f(.param .b32 x);" "$pass"
function_of called_weak ".weak .func f(.param .b32 x) { ret; }" "$pass"
function_of called_strong ".visible .func f(.param .b32 x) { ret; }" "$pass"
# `extern x[]` of shared memory is a definition beside variables of other memory.
extern_shared='.visible .entry shared(.param .u64 p) {
  .reg .u64 %r; mov.u64 %r, x; st.shared.u64 [%r], %r; ret; }'
ptx v_shared sm_80 ".extern .shared .align 4 .b8 x[]; $extern_shared"
ptx v_fixed sm_80 ".visible .shared .align 4 .b8 x[16]; ${extern_shared/shared/fixed}"
variable constant ".visible .const .align 4 .b8 x[4] = {1, 2}"
for kind in v f; do
  for a in "$kind"_*.cubin; do
    for b in "$kind"_*.cubin; do
      [[ $a == "$b" ]] || alike -arch=sm_80 "$a" "$b"
    done
  done
done
# Where nvlink finds that weak kernels have other parameters: when it comes to their banks.
body='.reg .u64 %r; mov.u64 %r, v; st.global.u64 [%r], %r; call g; ret;'
kernels() {
  ptx "$1" sm_80 "$2 .global .align 4 .b8 v[$3]; .visible .func g { ret; }
    .weak .entry k($4) { $body } .weak .entry l($5) { $body }"
}
kernels k_one .weak 4 '.param .u64 a' ''
kernels k_two .weak 8 '.param .u64 a, .param .u64 b' '.param .u64 a'
kernels k_three .visible 4 '' '.param .u64 a'
for a in k_*.cubin; do
  for b in k_*.cubin; do
    [[ $a == "$b" ]] || alike -arch=sm_80 "$a" "$b"
  done
done
ptx static sm_80 '.entry k(.param .u32 a) { ret; }'
ptx weak_k sm_80 '.weak .entry k(.param .u64 a) { ret; }'
row "a weak kernel behind a static one with other parameters" -arch=sm_80 static.cubin weak_k.cubin
# Of three the first, and what is defined twice.
cp v_common.cubin v_again.cubin
sed 's/f_called/f_once_more/' f_called.ptx >f_once_more.ptx
ptxas -arch=sm_80 -c f_once_more.ptx -o f_once_more.cubin
while read -ra names; do
  names=("${names[@]/%/.cubin}")
  alike -arch=sm_80 "${names[@]}"
done <<'TRIPLES'
v_common v_larger_common v_strong
v_common v_strong v_init
v_common v_strong v_again
v_common v_strong v_larger
v_extern v_common v_larger
v_unsized v_strong v_larger
v_weak v_init v_larger
v_weak v_common v_strong
v_common v_init v_larger
f_called f_taken f_taken_strong
f_taken f_taken_strong f_called
f_called f_called_strong f_taken_weak
f_called f_taken f_once_more
TRIPLES

# --- A weak kernel whose replaced body had a larger jump table ----------------------------------------
# jumps NAME ENTRIES LOADS: so many ways to go, and as many registers as the values that are loaded take.
jumps() {
  local labels=() ways='' loads='' i
  for ((i = 0; i < $2; ++i)); do
    labels+=("C$i")
    ways+="C$i: mad.lo.s32 x, x, $((i + 3)), $i; xor.b32 x, x, $((i * 77)); bra E; "
  done
  for ((i = 0; i < $3; ++i)); do loads+="ld.volatile.global.u32 w$i, [a+$((4 * i))]; "; done
  for ((i = 0; i < $3; ++i)); do loads+="mad.lo.s32 x, x, w$i, x; "; done
  ptx "$1" sm_100 ".weak .entry jump(.param .u64 p) { .reg .b32 x, y, w<32>; .reg .b64 a; ld.param.u64 a, [p];
    ld.global.u32 x, [a]; rem.u32 y, x, $2; T: .branchtargets $(IFS=,; echo "${labels[*]}"); brx.idx y, T;
    $ways E: $loads st.global.u32 [a], x; ret; }"
}
jumps j_large 7 20
jumps j_small 5 0
for option in '' --compat=nvlink; do
  # shellcheck disable=SC2086  # no word where there is none
  run default "$DEVLINK" $option -arch=sm_100 j_large.cubin j_small.cubin
  grep -q '^status 0$' default/text || fail "a larger table that went $option: $(cat default/text)"
done
run nv nvlink -arch=sm_100 j_large.cubin j_small.cubin
grep -q 'relocation is past end of offset' nv/text || fail "a larger table that went: nvlink says $(cat nv/text)"

echo "$links links, $failures failures"
[[ $failures -eq 0 ]]
