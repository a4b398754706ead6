#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The recipe for Conan 2 packages this build, and a program in C is built with the package and runs.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
if [[ $(setting DEVLINK_BUILD_C_LIBRARY) != ON ]]; then
  echo "built without libdevlink.so.0"
  exit 77
fi
if ! command -v conan >/dev/null; then
  echo "no conan (PyPI has it)"
  exit 77
fi
fail() {
  echo "$*"
  exit 1
}

export CONAN_HOME="$PWD/home"
conan profile detect >profile.log 2>&1 || fail "$(<profile.log)"
cp -r "$DEVLINK_SOURCE/tests/conan" consumer
# Nothing is fetched: everything that the package needs is the system's.
conan export-pkg "$DEVLINK_SOURCE" --no-remote --settings compiler.cppstd=20 --test-folder "$PWD/consumer" \
  >export.log 2>&1 || fail "$(tail -n 30 export.log)"
grep -qE '^devlink [0-9.]+ links$' export.log || fail "the consumer did not run: $(tail export.log)"
package="$(conan cache path "devlink/$(sed -n 's/^devlink \([0-9.]*\) links$/\1/p' export.log):$(
  conan list 'devlink/*:*' --format=json 2>/dev/null |
    python3 -c 'import json, sys
def ids(node):
    for key, value in node.items() if isinstance(node, dict) else ():
        if key == "packages":
            yield from value
        yield from ids(value)
print(next(ids(json.load(sys.stdin))))'
)")"
[[ -x $package/bin/devlink && -s $package/include/devlink/devlink.h ]] || fail "$package is not whole"
[[ -z $(find "$package" -name '*ptxcompiler*') ]] || fail "NVIDIA's compiler is in the package"
