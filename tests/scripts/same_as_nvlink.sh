#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# devlink and nvlink side by side on one command line after another: same status, same text under
# their own names, same file but for the linker's own record.
set -euo pipefail

if [[ -z ${CUDA_HOME-} || ! -x $CUDA_HOME/bin/nvlink ]]; then
  echo "no CUDA toolkit"
  exit 77
fi
golden="$DEVLINK_SOURCE/tests/golden"
failures=0

# The two write files of the same name, because with -g the name stands in the file.
mkdir nv dev

# both ARGUMENT...: runs both in their own directories.
both() {
  local nv_status=0 dev_status=0
  rm -f nv/* dev/*
  (cd nv && "$CUDA_HOME/bin/nvlink" "$@" >text 2>&1) || nv_status=$?
  (cd dev && "$DEVLINK" "$@" >text 2>&1) || dev_status=$?
  # Notes are devlink's own, and it warns of each entry once.
  sed 's/^nvlink /devlink /' nv/text | awk '!seen[$0]++' >nv.txt
  grep -v '^devlink note ' dev/text | awk '!seen[$0]++' >dev.txt || true
  if [[ $nv_status -ne $dev_status ]]; then
    echo "$*: nvlink ends with $nv_status, devlink with $dev_status"
    failures=$((failures + 1))
  fi
  if ! diff nv.txt dev.txt >text.diff; then
    echo "$*: the texts differ (< nvlink, > devlink)"
    cat text.diff
    failures=$((failures + 1))
  fi
  if [[ -e nv/out.cubin || -e dev/out.cubin ]]; then
    if ! "$DEVLINK_BUILD/bin/devlink-diff" nv/out.cubin dev/out.cubin >file.diff 2>&1; then
      echo "$*: the files differ"
      head -20 file.diff
      failures=$((failures + 1))
    fi
  fi
}

for arch in sm_75 sm_80 sm_90; do
  for name in diamond stack_frames extern_shared; do
    both -v "-arch=$arch" -o out.cubin "$golden/$name.$arch".*.cubin
  done
  recursion=("$golden/recursion.$arch".*.cubin)
  for flags in "" -v "-v -report-arch" -report-arch -suppress-stack-size-warning -disable-infos \
    -Werror "-Werror -report-arch" -w -g "-m64" "-m 64" "-suppress-arch-warning"; do
    # shellcheck disable=SC2086  # several flags in one text
    both "-arch=$arch" $flags -o out.cubin "${recursion[@]}"
  done
done

# Plain code for an 'a' target: the output says what the target is.
both -arch=sm_90a -o out.cubin "$golden/diamond.sm_90".*.cubin

one="$golden/globals.sm_80.1.cubin"
both -o out.cubin "$one"
both -arch=sm_80 "$one"
both -arch=sm_80 -o out.cubin
both -arch=sm_80 -nonsense -o out.cubin "$one"
both -arch=sm_80 -m32 -o out.cubin "$one"
both -arch=sm_1 -o out.cubin "$one"
both -arch=sm_80 "$one" -o
both -arch=sm_90 -o out.cubin "$one"
both -arch=sm_80 -o out.cubin nowhere.cubin
both -arch=sm_80 -o out.cubin "$one"
both -arch=sm_80 -o out.cubin "$golden/diamond.sm_80.1.cubin"
both -arch=sm_80 -o none/out.cubin "$one"
# What is wrong first is said, also of a value that is given again.
both -maxrregcount=x -arch=bad -o out.cubin "$one"
both -arch=bad -maxrregcount=x -nonsense
both -arch=bad -arch=sm_80 -o out.cubin "$one"
both -arch=sm_80 -split-compile=y -maxrregcount=x -o out.cubin "$one"
both -device-stack-protector=y -cpu-arch=FOO
both -arch=bad '-Xptxas="a'
both '-lfoo,"x' -nonsense
both -m 32 -optf nowhere.txt
both -maxrregcount=16 -maxrregcount=16 -o out.cubin "$one"

[[ $failures -eq 0 ]]
