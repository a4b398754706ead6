#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds by what ran: in the first step the library and the command count and nothing else does, in the
# second they are built by the counts; a word or a compiler that cannot do it is refused.
# `scripts/build pgo` goes through all of it, which takes too long for a test.
set -euo pipefail

configure() {
  cmake -S "$DEVLINK_SOURCE" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${2-g++}" \
    -DDEVLINK_PROFILE="$1" >log 2>&1
}
fail() {
  echo "profile.sh: $*" >&2
  exit 1
}
# All files of the library and of the command are compiled with an option, and no other.
check() {
  local option="$1" own with
  ninja -C build -t commands >compiled
  grep -E -- ' -o [^ ]*/CMakeFiles/(devlink|devlink_small|devlink_cli)\.dir/[^ ]* -c ' compiled >own
  own=$(wc -l <own)
  with=$(grep -c -- " $option .* -c " own || true)
  [[ $own -gt 250 ]] || fail "only $own files would be compiled"
  [[ $with -eq $own ]] || fail "$option stands in $with of the $own commands of library and command"
  with=$(grep -c -- " $option .* -c " compiled || true)
  [[ $with -eq $own ]] || fail "$option stands in $with commands, and is to stand in $own"
}

configure record || fail "$(cat log)"
check -fprofile-generate
object=libdevlink/CMakeFiles/devlink.dir/src/format/arch.cc.o
ninja -C build "$object" >log || fail "$(cat log)"
nm "build/$object" >names
grep -q __gcov names || fail "what was built does not count"

configure use || fail "$(cat log)"
check -fprofile-use
ninja -C build "$object" >log 2>&1 || fail "$(cat log)"
nm "build/$object" >names
! grep -q __gcov names || fail "what was built by counts counts"
! grep -q warning log || fail "$(cat log)"

! configure always || fail "DEVLINK_PROFILE=always was taken"
grep -q "DEVLINK_PROFILE is record, use or nothing, not 'always'" log || fail "$(cat log)"
if command -v clang++-19 >/dev/null; then
  rm -rf build
  ! configure record clang++-19 || fail "Clang was taken"
  grep -q "DEVLINK_PROFILE needs GCC" log || fail "$(cat log)"
fi
