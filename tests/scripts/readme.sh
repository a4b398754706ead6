#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What README.md and CONTRIBUTING.md name exists: scripts, programs, files that they link to, and the
# options that their examples use.
set -euo pipefail
cd "$DEVLINK_SOURCE"
failures=0

complain() {
  echo "$*"
  failures=$((failures + 1))
}

for file in README.md CONTRIBUTING.md; do
  while read -r script; do
    [[ -x $script ]] || complain "$file names $script, which is not a program"
  done < <(grep -oE 'scripts/[a-z-]+' "$file" | grep -v 'tests/scripts' | sort -u)
  while read -r target; do
    [[ -e $target ]] || complain "$file links to $target, which does not exist"
  done < <(grep -oE '\]\([^)#]+' "$file" | cut -c3- | grep -v '^https\?:' | sort -u)
done

# Scripts explain themselves.
for script in scripts/*; do
  [[ -x $script && ! -d $script ]] || continue
  # Read to its end: a program whose reader has gone fails, now and then.
  [[ -n "$("$script" --help)" ]] || complain "$script --help says nothing"
done

help="$("$DEVLINK" --help)"
while read -r option; do
  grep -qE -- "(^|[ ,])$option([ ,]|\$)" <<<"$help" ||
    complain "README.md uses $option, unknown to devlink"
done < <(grep -E '^devlink ' README.md | grep -oE ' -[-a-z]+' | tr -d ' ' | sort -u)
[[ -x $DEVLINK_BUILD/bin/devlink-diff ]] ||
  complain "README.md names devlink-diff, which is not built"

[[ $failures -eq 0 ]]
