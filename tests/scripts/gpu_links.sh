#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The programs that tests/gpu/run runs where there is a GPU: here they are linked in every way, and
# the cubins are nvlink's. Where there is a device they run, too, but nothing is claimed without one.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
fail() {
  cat table
  echo "$*"
  exit 1
}
run="$DEVLINK_SOURCE/tests/gpu/run"
if ! [[ -x $DEVLINK_BUILD/bin/devlink-gpu-runner && -x $diff_program ]]; then
  echo "built without devlink-gpu-runner or devlink-diff"
  exit 77
fi
device=yes
"$DEVLINK_BUILD/bin/devlink-gpu-runner" >runner.out 2>runner.err || device=no

# count WORD: the number before a word of the last line.
count() { sed -n "\$s/.*\b\([0-9][0-9]*\) $1.*/\1/p" table; }
programs="$(find "$DEVLINK_SOURCE/tests/gpu/programs" -name '*.1.cu' | wc -l)"
links=0
# check WAYS ARCHS NUMBER: NUMBER links of each program, none of which fails.
check() {
  "$run" --build "$DEVLINK_BUILD" --way "$1" --arch "$2" --keep kept >table || fail "$1, $2"
  links=$((links + programs * $3))
  [[ $(count failed) -eq 0 ]] || fail "$1, $2: something failed and the status is 0"
  [[ $(($(count passed) + $(count 'not run'))) -eq $((programs * $3)) ]] || fail "not all were linked"
  if [[ $device == no ]]; then
    [[ $(count passed) -eq 0 ]] || fail "without a device nothing can have passed"
    grep -q "^$((programs * $3)) programs linked, not run: no device\$" table ||
      fail "it is not said that nothing ran"
  fi
}
[[ $programs -ge 10 ]] || fail "programs are missing"
check cubins,chain sm_80,sm_90,sm_100 6
check lto,parts sm_90 2

# Programs that nvcc makes, and random ones: their results are known without a device.
"$run" --build "$DEVLINK_BUILD" --way executable,lto-executable --arch sm_90 --keep kept globals \
  examples/nbody >table || fail "executables"
[[ $(($(count passed) + $(count 'not run'))) -eq 4 ]] || fail "not all executables were made"
links=$((links + 4))
"$run" --build "$DEVLINK_BUILD" --way cubins,chain,lto,parts --arch sm_90 --random 4 --keep kept \
  globals >table || fail "random programs"
[[ $(($(count passed) + $(count 'not run'))) -eq 20 ]] || fail "not all random programs were linked"
links=$((links + 20))
for seed in 1 2 3 4; do
  kept=kept/random$seed
  [[ $("$kept/random$seed.host" | wc -w) -eq 17 ]] || fail "the CPU does not know what random$seed leaves"
done

# Without a device and a target there is nothing to do; and a cubin that differs is no success.
if [[ $device == no ]]; then
  status=0
  "$run" --build "$DEVLINK_BUILD" >table || status=$?
  [[ $status -eq 77 ]] || fail "status $status without a device and a target"
fi
mkdir -p other/bin
ln -s "$DEVLINK_BUILD/bin/devlink-gpu-runner" "$diff_program" other/bin
printf '#!/bin/sh\nexec "%s" -maxrregcount=16 "$@"\n' "$DEVLINK" >other/bin/devlink
chmod +x other/bin/devlink
status=0
"$run" --build other --way cubins --arch sm_80 pointers >table || status=$?
[[ $status -eq 1 && $(count failed) -eq 1 ]] || fail "a difference was not seen"
echo "$links links of $programs programs$([[ $device == yes ]] || echo ", none run: $(<runner.err)")"
