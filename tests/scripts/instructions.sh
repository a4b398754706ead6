#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a link costs grows with the size of the program and not faster, whatever it is large in, and
# did not grow since the last time that somebody accepted it.
set -euo pipefail
if [[ -n $(sed -n 's/^DEVLINK_SANITIZE:[A-Z]*=//p' "$DEVLINK_BUILD/CMakeCache.txt") ]]; then
  echo "built with a sanitizer, whose instructions would count as well"
  exit 77
fi
exec python3 -B "$DEVLINK_SOURCE/scripts/instructions" --build "$DEVLINK_BUILD"
