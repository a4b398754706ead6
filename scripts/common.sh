# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the other scripts share; they source this file.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
BUILD="$ROOT/build"
# shellcheck disable=SC2034  # for the scripts that source this
TOOLKIT_ENV="$BUILD/toolkit.env"

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  warn "$*"
  exit 1
}

# Prints the comment at the top of the running script, as its help text.
usage() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# Runs setup and loads what it found. A missing CUDA toolkit (status 3) is not the end here: the
# library builds without one, and whoever needs one looks at CUDA_HOME.
load_setup() {
  local status=0
  "$ROOT/scripts/setup" --brief || status=$?
  if [[ $status -ne 0 && $status -ne 3 ]]; then
    exit "$status"
  fi
  # The file decides, not what the caller's environment says, so that every script sees one toolkit.
  unset CUDA_HOME CUDA_RELEASE NVDISASM NVPTXCOMPILER
  if [[ -f "$TOOLKIT_ENV" ]]; then
    set -a
    # shellcheck disable=SC1090
    . "$TOOLKIT_ENV"
    set +a
  fi
}
