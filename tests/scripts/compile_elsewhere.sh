#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/compile_elsewhere.cc: what is compiled elsewhere gives nvlink's bytes, the folders of
# actions need nothing beside them, and what goes wrong elsewhere is done by the link.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
example="$DEVLINK_BUILD/bin/compile_elsewhere"
library="$DEVLINK_BUILD/lib/libdevlink_ptxcompiler.so"
ptxas="$(command -v ptxas)"
# shellcheck disable=SC2154 # set by what is sourced
[[ -e $example && -n $nvvm ]] || { echo "there is no $example, or no libNVVM"; exit 77; }
libnvvm="$nvvm/lib64/libnvvm.so"
[[ -e $library ]] || library="$ptxas"
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

# Farms: a script that is told a folder. Each notes that it was asked.
farm() {
  printf '#!/bin/bash\necho x >>"%s/asked"\n%s\n' "$PWD" "$2" >"$1"
  printf '#!/bin/bash\n%s\n' "$2" >"$1.quiet"
  chmod +x "$1" "$1.quiet"
}
# Another place, which has what the folder has and nothing else.
farm good 'there=$(mktemp -d) && cp -r "$1"/. "$there" && cd "$there" && ./run &&
  cp result "$1/result"; status=$?; rm -rf "$there"; exit $status'
farm fails 'exit 1'
farm empty ': >"$1/result"'
farm damages "$PWD/good.quiet \"\$1\" && printf x | dd of=\"\$1/result\" bs=1 seek=200 conv=notrunc 2>/dev/null"
farm mixes "$PWD/good.quiet \"\$1\" && cp \"\$1/result\" \"\$1/own\" &&
  { ln \"\$1/own\" $PWD/last 2>/dev/null || cp $PWD/last \"\$1/result\"; }"
farm other_tool 'printf x >>"$1/tool"; cd "$1" && ./run 2>"$1/said"'

cat >a.cu <<'CUDA'
extern __device__ int b(int);
extern __device__ int c(int);
extern "C" __global__ void ka(int* p) { *p = b(*p) + c(*p); }
CUDA
echo '__device__ int b(int x) { return x * 3; }' >b.cu
echo '__device__ int c(int x) { for (int i = 0; i < x; ++i) x ^= x << i; return x; }' >c.cu

asked() { wc -l <asked; }

# link NAME FARM PTX_TOOL NVVM INPUT...: with the farm, which is told of as many actions as $actions.
link() {
  local name="$1" farm="$2"
  shift 2
  rm -rf asked "$name.cubin" "$name.cubin.actions"
  : >asked
  "$example" "$PWD/$farm" "$1" "$2" sm_90 "$name.cubin" "${@:3}" 2>"$name.err" ||
    fail "$name: $(<"$name.err")"
  "$diff_program" expected.cubin "$name.cubin" >diff.txt || fail "$name: $(<diff.txt)"
  [[ $(asked) -eq $actions ]] || fail "$name: the farm was asked for $(asked) actions"
}

# PTX.
for unit in a b c; do nvcc -arch=compute_90 -rdc=true -ptx $unit.cu; done
for unit in a b c; do ptxas -arch=sm_90 -m64 -c $unit.ptx -o $unit.cubin; done
nvlink -arch=sm_90 a.cubin b.cubin c.cubin -o expected.cubin
actions=3
for tool in "$library" "$ptxas"; do
  link good good "$tool" '' a.ptx b.ptx c.ptx
  [[ ! -s good.err ]] || fail "said: $(<good.err)"
done
for how in fails empty damages mixes other_tool; do
  rm -f last
  link $how $how "$ptxas" '' a.ptx b.ptx c.ptx
  here=3
  [[ $how != mixes ]] || here=2  # the first result is that of its own action
  [[ $(grep -c '^compiled here with ptxas: ' $how.err) -eq $here ]] || fail "$how: $(<$how.err)"
done
grep -q "is another ptxas than the one asked for" other_tool.cubin.actions/*/said ||
  fail "another tool: $(cat other_tool.cubin.actions/*/said)"

# LTO: one compilation, and one of what comes of it.
for unit in a b c; do nvcc -arch=lto_90 -rdc=true -dlto -ltoir $unit.cu -o $unit.ltoir; done
nvlink -arch=sm_90 -lto -nvvmpath="$nvvm" a.ltoir b.ltoir c.ltoir -o expected.cubin
actions=2
link lto good "$library" "$libnvvm" a.ltoir b.ltoir c.ltoir
[[ ! -s lto.err ]] || fail "said: $(<lto.err)"
link lto_fails fails "$library" "$libnvvm" a.ltoir b.ltoir c.ltoir
[[ $(grep -c '^compiled here with ' lto_fails.err) -eq 2 ]] || fail "$(<lto_fails.err)"

# What the compiler refuses is an answer like any other, in the same words as without a farm.
sed 's/mul/mull/; s/shl/shll/' c.ptx >bad.ptx
refused() {
  local status=0
  rm -f asked; : >asked
  "$example" "$PWD/$1" "$ptxas" '' sm_90 none.cubin a.ptx b.ptx bad.ptx 2>err || status=$?
  [[ $status -eq 1 && ! -e none.cubin ]] || fail "refused by $1: status $status"
}
refused good
[[ $(asked) -eq 3 ]] || fail "a bad text: asked $(asked) times"
cp err good.said
refused fails
grep -v '^compiled here' err >fails.said
cmp good.said fails.said || fail "other words: $(diff good.said fails.said)"
grep -q "bad.ptx" good.said || fail "said: $(<good.said)"

# A worker that is told nonsense.
worker() {
  local status=0
  "$example" --work "$@" 2>err || status=$?
  [[ $status -ne 0 && ! -e none.result && -s err ]] || fail "worker $*: status $status"
}
requests=(good.cubin.actions/*/request)
request="${requests[0]}"
head -c 100 "$request" >cut
worker ptxas "$ptxas" cut none.result
worker ptxas "$ptxas" /dev/null none.result
worker libNVVM "$libnvvm" "$request" none.result
worker nonsense "$ptxas" "$request" none.result
worker ptxas /no/such/tool "$request" none.result
[[ $failures -eq 0 ]]
