#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The C++ in README.md and docs compiles: each piece as the body of a function that has for its
# parameters what `<!-- given: ... -->` above the piece names. The C in docs/c-api.md stands in the
# example that it is taken from.
set -euo pipefail
cd "$DEVLINK_SOURCE"
work="$OLDPWD"

# pieces LANGUAGE FILE: each piece behind a line `@ LINE GIVEN`.
pieces() {
  awk -v fence="^\`\`\`$1\$" '
    $0 ~ fence { inside = 1; print "@", NR, given; given = ""; next }
    /^```/ { inside = 0 }
    inside { print; next }
    /^<!-- given: .* -->$/ { given = $0; sub(/^<!-- given: /, "", given); sub(/ -->$/, "", given); next }
    NF { given = "" }' "$2"
}

{
  printf '#include <%s>\n' iostream memory span stop_token string vector
  printf '#include "devlink/%s"\n' devlink.h experimental/compilation_provider.h
  n=0
  for file in README.md docs/*.md; do
    open=
    while IFS= read -r line; do
      if [[ $line == "@ "* ]]; then
        read -r _ at given <<<"$line"
        [[ -z $open ]] || printf 'return absl::OkStatus();\n}\n'
        open=yes
        n=$((n + 1))
        printf 'absl::Status Piece%d(%s) {\n#line %d "%s"\n' "$n" "$given" "$((at + 1))" "$file"
      else
        printf '%s\n' "$line"
      fi
    done < <(pieces cpp "$file")
    [[ -z $open ]] || printf 'return absl::OkStatus();\n}\n'
  done
} >"$work/pieces.cc"
count=$(grep -c '^absl::Status Piece' "$work/pieces.cc")
[[ $count -ge 10 ]] || { echo "only $count pieces were found"; exit 1; }

setting() {
  sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"
}
"$(setting CMAKE_CXX_COMPILER)" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unused -Wno-missing-field-initializers \
  -Ilibdevlink/include "$work/pieces.cc"

failures=0
while IFS= read -r line; do
  [[ $line != "@ "* && -n ${line//[[:space:]]/} ]] || continue
  read -r words <<<"$line"
  grep -qF -- "$words" examples/link_from_memory.c || {
    echo "docs/c-api.md: not in examples/link_from_memory.c: $words"
    failures=$((failures + 1))
  }
done < <(pieces c docs/c-api.md)
echo "$count pieces of C++"
[[ $failures -eq 0 ]]
