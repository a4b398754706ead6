#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What scripts/demo runs, on one of the examples and with the programs of this build.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

if ! python3 "$DEVLINK_SOURCE/scripts/demo.py" "$DEVLINK_SOURCE" "$DEVLINK_BUILD/bin" "$PWD/demo" \
  "$CUDA_HOME" raytrace >table.txt || ! grep -q '^6 links, 6 identical' table.txt; then
  cat table.txt
  exit 1
fi
