#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What --keep-dir keeps of a link is there, and every command of its script works and makes the same bytes again.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

cat >a.cu <<'CUDA'
extern __device__ int helper(int);
__global__ void k(int* p) { *p = helper(*p); }
__global__ void unused(int* p) { *p = 2; }
int main() { k<<<1, 1>>>(nullptr); }
CUDA
echo '__device__ int helper(int x) { return x * 3; }' >b.cu
nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_100,code=sm_100 -dc a.cu b.cu
nvcc -arch=sm_80 -dc -cubin a.cu -o a.cubin
nvcc -arch=sm_80 -dc -ptx b.cu -o b.ptx
nvcc -arch=sm_100 -dc -cubin a.cu -o a100.cubin
nvcc -arch=sm_100 -dc -ptx b.cu -o b100.ptx
nvcc -gencode arch=compute_80,code=lto_80 -dc a.cu -o alto.o
nvcc -gencode arch=compute_80,code=lto_80 -dc b.cu -o blto.o
cat >w.cu <<'CUDA'
extern "C" __device__ int __real__Z6helperi(int);
extern "C" __device__ int __wrap__Z6helperi(int x) { return __real__Z6helperi(x) + 1; }
CUDA
nvcc -arch=sm_80 -dc -cubin w.cu -o w.cubin
ar rcs libb.a b.o
# shellcheck disable=SC2016 # nobody is to obey it
hostile='hostile $(touch harm)/..;`touch harm`'$'\n''touch harm'"' \" é"
mkdir "${hostile%/*}"
cp b.ptx "$hostile 1.ptx"
sed 's/_Z6helperi/_Z6helperj/' b.ptx >"$hostile"$'\x1b1.ptx'

failures=0
# kept FILES WORD...: the same link with and without --keep-dir, the files that it leaves, and its script.
kept() {
  local files="$1" wanted
  shift
  rm -rf keep plain.out
  "$DEVLINK" "$@" -o x.cubin >/dev/null 2>&1
  mv x.cubin plain.out
  "$DEVLINK" "$@" -o x.cubin --keep-dir=keep/it >/dev/null 2>&1
  if ! cmp plain.out x.cubin || ! cmp x.cubin keep/it/8-output-x.cubin; then
    echo "$*: another output"
    failures=$((failures + 1))
  fi
  # shellcheck disable=SC2086 # a list of harmless names
  wanted="$(printf '%s\n' $files 8-output-x.cubin redo.sh)"
  if [[ $(LC_ALL=C ls keep/it) != "$wanted" ]]; then
    echo "$*: other files"
    ls keep/it
    failures=$((failures + 1))
  fi
  if ! env -u DEVLINK sh keep/it/redo.sh >said.txt 2>said.err || ! grep -qx '8-output-x.cubin: the same' said.txt; then
    echo "$*: the script fails"
    cat keep/it/redo.sh said.txt said.err
    failures=$((failures + 1))
  fi
}
# also FILE...: the script has compared these, too.
also() {
  local file
  for file in "$@"; do
    grep -qx "$file: the same" said.txt || { echo "$file was not made again"; failures=$((failures + 1)); }
  done
}

kept '1-ptx-0001-b.ptx 2-assembled-0001-b.ptx.cubin 6-linked-0001-a.cubin 6-linked-0002-b.ptx.cubin' \
  -arch=sm_80 a.cubin b.ptx
also 2-assembled-0001-b.ptx.cubin
kept '1-ptx-0001-b.ptx 2-assembled-0001-b.ptx.cubin 6-linked-0001-a.cubin 6-linked-0002-b.ptx.cubin' \
  -arch=sm_80 -g a.cubin b.ptx
echo nothing >names.txt
kept '6-linked-0001-a.o.cubin 6-linked-0002-b.o.cubin' -arch=sm_80 -kernels-used=_Z1kPi --icf=safe \
  --retain-symbols-file=names.txt a.o b.o
kept '6-linked-0001-a.cubin 6-linked-0002-b.o.cubin 6-linked-0003-w.cubin' -arch=sm_80 --wrap=_Z6helperi \
  a.cubin b.o w.cubin
kept '6-linked-0001-a.o.cubin 6-linked-0002-libb.a_b.o.cubin' -arch=sm_80 a.o libb.a
kept '6-linked-0001-a.o.cubin 6-linked-0002-libb.a_b.o.cubin' -arch=sm_80 a.o -L . -lb
kept '6-linked-0001-a.o.cubin' -arch=sm_80 -r a.o --register-link-binaries=registered
kept '6-linked-0001-a.o.cubin 6-linked-0002-b.o.cubin' -arch=sm_80 -nv-host=a.cu -kernels-used=_Z1kPi a.o b.o
kept '1-ptx-0001-b100.ptx 2-assembled-0001-b100.ptx.cubin 6-linked-0001-a100.cubin 6-linked-0002-b100.ptx.cubin' \
  -arch=sm_100 --finalize=never a100.cubin b100.ptx
also 2-assembled-0001-b100.ptx.cubin
if "$DEVLINK" -arch=sm_100 --finalize=always a100.cubin b100.ptx -o x.cubin 2>/dev/null; then
  kept '1-ptx-0001-b100.ptx 2-assembled-0001-b100.ptx.cubin 6-linked-0001-a100.cubin 6-linked-0002-b100.ptx.cubin
    7-finalized-0001.cubin' -arch=sm_100 a100.cubin b100.ptx
fi
if [[ -n $nvvm ]]; then
  modules='3-lto-ir-0001-alto.o.fatbin 3-lto-ir-0002-blto.o.fatbin'
  kept "$modules 4-lto-ptx-0001.ptx 5-lto-cubin-0001.cubin" -arch=sm_80 -lto -nvvmpath="$nvvm" alto.o blto.o
  also 4-lto-ptx-0001.ptx 5-lto-cubin-0001.cubin
  kept '3-lto-ir-0001-blto.o.fatbin 4-lto-ptx-0001.ptx 5-lto-cubin-0001.cubin 6-linked-0001-a.cubin
    6-linked-0002-lto.cubin' -arch=sm_80 -lto -nvvmpath="$nvvm" a.cubin blto.o
  also 4-lto-ptx-0001.ptx 5-lto-cubin-0001.cubin
  kept "$modules 4-lto-ptx-0001.ptx" -arch=sm_80 -lto -nvvmpath="$nvvm" -emit-ptx alto.o blto.o
fi

# Names are made harmless, and those that become the same stay apart.
name='.___touch_harm__touch_harm_______1.ptx'
kept "1-ptx-0001-$name 1-ptx-0002-$name 2-assembled-0001-$name.cubin 2-assembled-0002-$name.cubin
  6-linked-0001-a.cubin 6-linked-0002-$name.cubin 6-linked-0003-$name.cubin" \
  -arch=sm_80 a.cubin "$hostile 1.ptx" "$hostile"$'\x1b1.ptx'
also "2-assembled-0002-$name.cubin"
[[ ! -e harm ]] || { echo "a name was obeyed"; failures=$((failures + 1)); }

# A link that fails leaves what it had.
status=0
"$DEVLINK" -arch=sm_80 a.cubin -o y.cubin --keep-dir=failed 2>/dev/null || status=$?
[[ $status == 255 && ! -e y.cubin && $(LC_ALL=C ls failed) == $'6-linked-0001-a.cubin\nredo.sh' ]] || {
  echo "a link that fails: status $status"
  ls failed
  failures=$((failures + 1))
}
# So does PTX that nobody can assemble; the command for it fails in the same way.
printf '.version 9.0\n.target sm_80\n.address_size 64\n.func f() { nonsense; }\n' >bad.ptx
"$DEVLINK" -arch=sm_80 bad.ptx -o y.cubin --keep-dir=bad >/dev/null 2>&1 && failures=$((failures + 1))
sh bad/redo.sh >said.txt 2>&1 && failures=$((failures + 1))
grep -q '^1-ptx-0001-bad.ptx: the step failed$' said.txt || failures=$((failures + 1))
# A folder that cannot be made ends the run before anything is linked.
status=0
"$DEVLINK" -arch=sm_80 a.o b.o -o z.cubin --keep-dir=a.cu/keep 2>said.txt || status=$?
if [[ $status != 1 || -e z.cubin ]] || ! grep -q "Could not make the folder 'a.cu/keep'" said.txt; then
  failures=$((failures + 1))
fi
echo "$failures failures"
[[ $failures == 0 ]]
