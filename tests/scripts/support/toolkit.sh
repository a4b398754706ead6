# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that compare with nvlink what nvcc makes. Sourcing it leaves the test out where there is
# no toolkit; after it there are
#   diff_program  the path of devlink-diff
#   runtime       the folder of libcudadevrt.a; empty where there is none
#   nvvm          what nvlink takes for -nvvmpath; empty where libNVVM is in no such place
# scripts/test runs tests/scripts/*.sh, so what is in this folder is not a test.
if [[ -z ${CUDA_HOME-} ]] || ! command -v nvcc >/dev/null || ! command -v nvlink >/dev/null; then
  echo "no CUDA toolkit"
  exit 77
fi

# first_with FILE FOLDER...: the first of the folders that has the file.
first_with() {
  local file="$1" folder
  shift
  for folder in "$@"; do
    [[ ! -f $folder/$file ]] || { echo "$folder" && return; }
  done
}
# shellcheck disable=SC2034 # used by those who source this
{
  diff_program="$(dirname "$DEVLINK")/devlink-diff"
  runtime="$(first_with libcudadevrt.a "$CUDA_HOME"/targets/x86_64-linux/lib "$CUDA_HOME"/lib64 \
    "$CUDA_HOME"/lib)"
  nvvm="$(first_with lib64/libnvvm.so "$CUDA_HOME" "$CUDA_HOME"/nvvm)"
}
