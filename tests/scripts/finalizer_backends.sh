#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Who finalizes: the toolkit's nvlink, libnvJitLink where that is asked for or nvlink cannot do it; the file is the same.
# devlink under nvlink's name is not taken for it, and does not start itself over and over.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

home="$(dirname "$(dirname "$(realpath "$(command -v ptxas)")")")"
library="$(first_with libnvJitLink.so.13 "$home"/lib64 "$home"/lib)"
failures=0
complain() {
  echo "$*" >&2
  failures=$((failures + 1))
}

cat >a.cu <<'CUDA'
__device__ int flag;
__device__ int next(int);
__global__ void publish(int* p) { *p = next(1); __threadfence(); atomicExch(&flag, 1); }
CUDA
cat >b.cu <<'CUDA'
__device__ int next(int x) { return x * 3 + 1; }
CUDA
nvcc -arch=sm_100 -dc a.cu b.cu
nvcc -arch=sm_100 -rdc=true -cubin a.cu b.cu

# by WHO WORD...: the link is nvlink's file, finalized by WHO (nobody: as the assembler made it).
by() {
  local who="$1" said
  shift
  nvlink -arch=sm_100 a.o b.o -o nvlink.cubin
  rm -f devlink.cubin
  said="$("$DEVLINK" --log "$@" -arch=sm_100 a.o b.o -o devlink.cubin 2>&1)" || complain "$who, $*: $said"
  if [[ $who == nobody ]]; then
    [[ $said != *"took over"* ]] || complain "$*: $said"
    return
  fi
  "$diff_program" nvlink.cubin devlink.cubin >/dev/null || complain "$*: not nvlink's bytes"
  grep -q "took over [0-9]* bytes of $who\$" <<<"$said" || complain "$*: not by $who: $said"
}

by nvlink
by nvlink --finalizer-backend=nvlink
by nvlink --nvlink-path="$home/bin/nvlink"
DEVLINK_NVLINK="$home/bin/nvlink" by nvlink --finalizer-backend=nvlink
by nobody --finalizer-backend=nvlink --nvlink-path=/no/such/nvlink
[[ -n $library ]] || { echo "$failures failures" && exit $((failures > 0)); }
by nvJitLink --finalizer-backend=nvjitlink
by nvJitLink --nvlink-path=/no/such/nvlink

# Options that libnvJitLink does not know.
for option in -reserve-null-pointer -allow-undefined-globals -disable-smem-reservation=true; do
  nvlink -arch=sm_100 $option a.o b.o -o nvlink.cubin
  "$DEVLINK" --finalize=always -arch=sm_100 $option a.o b.o -o devlink.cubin
  "$diff_program" nvlink.cubin devlink.cubin >/dev/null || complain "$option: not nvlink's bytes"
  "$DEVLINK" --finalizer-backend=nvjitlink -arch=sm_100 $option a.o b.o -o devlink.cubin 2>said
  grep -q "libnvJitLink knows no $option, nvlink does" said || complain "$option: $(cat said)"
done
nvlink -arch=sm_100 a.o b.o -o nvlink.cubin

# What nvlink would read otherwise.
words=(-arch=sm_100 -kernels-used=publish '-variables-used="v\"a\"b"' a.o b.o)
nvlink "${words[@]}" -o quoted.cubin
said="$("$DEVLINK" --log "${words[@]}" -o devlink.cubin 2>&1)"
"$diff_program" quoted.cubin devlink.cubin >/dev/null || complain "quotes: not nvlink's bytes"
[[ $said == *"bytes of nvJitLink"* ]] || complain "quotes: $said"

# Toolkits in which nvlink is something else: the library does it, also what devlink itself cannot.
nvlink -arch=sm_103 a.cubin b.cubin -o relative.cubin
# toolkit FOLDER: all but nvlink.
toolkit() {
  mkdir -p "$1/bin"
  cp "$(realpath "$home/bin/ptxas")" "$1/bin/ptxas"
  ln -s "$library" "$1/lib64"
  ln -s "$home/include" "$1/include"
}
# in_toolkit FOLDER: the link is nvlink's file there, too.
in_toolkit() {
  local folder="$1" said
  said="$(PATH="$PWD/$folder/bin:/usr/bin:/bin" timeout 60 "$DEVLINK" -arch=sm_100 a.o b.o -o devlink.cubin 2>&1)" ||
    complain "$folder: $said"
  [[ -z $said ]] || complain "$folder: $said"
  "$diff_program" nvlink.cubin devlink.cubin >/dev/null || complain "$folder: not nvlink's bytes"
  said="$(PATH="$PWD/$folder/bin:/usr/bin:/bin" timeout 60 "$DEVLINK" -arch=sm_103 a.cubin b.cubin -o devlink.cubin 2>&1)" ||
    complain "$folder, sm_103: $said"
  "$diff_program" relative.cubin devlink.cubin >/dev/null || complain "$folder, sm_103: not nvlink's bytes"
}

toolkit copied
cp "$DEVLINK" copied/bin/nvlink
in_toolkit copied
toolkit linked
ln -s "$DEVLINK" linked/bin/nvlink
in_toolkit linked
toolkit wrapped
cp "$DEVLINK" wrapped/nvlink
printf '#!/bin/sh\nPATH="%s/wrapped/bin:/usr/bin:/bin"\nexport PATH\nexec "%s/wrapped/nvlink" "$@"\n' "$PWD" "$PWD" \
  >wrapped/bin/nvlink
chmod +x wrapped/bin/nvlink
in_toolkit wrapped
toolkit older
printf '#!/bin/sh\n[ "$1" = --version ] && echo "nvlink: NVIDIA (R) Cuda linker, release 12.9, V12.9.1" && exit
echo "nvlink fatal   : newer than toolkit" >&2\nexit 1\n' >older/bin/nvlink
chmod +x older/bin/nvlink
in_toolkit older
toolkit broken
printf '#!/bin/sh\necho "no such thing" >&2\nexit 127\n' >broken/bin/nvlink
chmod +x broken/bin/nvlink
in_toolkit broken
echo "$failures failures"
[[ $failures == 0 ]]
