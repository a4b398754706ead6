#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What links run lies together in the command: most of what cmake/function_order.ld names was there to
# be laid so. Where too little is, scripts/order-functions makes the list again.
set -euo pipefail
map="$DEVLINK_BUILD/products/devlink_cli.map"
if ! grep -q '^DEVLINK_ORDERS_FUNCTIONS:INTERNAL=1' "$DEVLINK_BUILD/CMakeCache.txt"; then
  echo "built with a sanitizer, or by a linker that lays functions as they come"
  exit 77
fi
if ! grep -qs 'set(CMAKE_CXX_COMPILER_ID "GNU")' "$DEVLINK_BUILD"/CMakeFiles/*/CMakeCXXCompiler.cmake; then
  echo "the list is of what GCC makes"
  exit 77
fi

awk '/^\.text\.first/ { on = 1; next } /^\.[a-z]/ { on = 0 } on && /^ \.text/ { print $1 }' "$map" |
  sort -u >placed.txt
sed -n 's/^ *\*(\(\.text[^)]*\))$/\1/p' "$DEVLINK_SOURCE/cmake/function_order.ld" | sort -u >named.txt
named=$(wc -l <named.txt)
found=$(comm -12 placed.txt named.txt | wc -l)
echo "$found of $named functions lie where links find them together"
if [[ $named -lt 500 || $((found * 4)) -lt $((named * 3)) ]]; then
  echo "fewer than three quarters: run scripts/order-functions" >&2
  exit 1
fi
