#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The benchmarks run and print their tables, where they were built (-DDEVLINK_BUILD_BENCH=ON); their
# figures nobody looks at. What scripts/draw-times makes of a file is a picture.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}
readonly draw="$DEVLINK_SOURCE/scripts/draw-times"

# draws FILE: whether a well-formed picture with all three lines comes of it.
draws() {
  "$draw" --print "$1" >picture.svg
  python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' picture.svg
  for name in nvlink devlink "reading and writing alone"; do
    grep -q ">$name</text>" picture.svg || fail "no line for $name in the picture of $1"
  done
}
cat >known.json <<'JSON'
{"classes": [
  {"class": "10", "inputs": 10, "nvlink": {"least_seconds": 0.0061},
   "devlink": {"least_seconds": 0.0030},
   "floor": {"least_seconds": 0.0007}},
  {"class": "4000", "inputs": 4000, "nvlink": null, "devlink": {"least_seconds": 0.5},
   "floor": {"least_seconds": 0.1}},
  {"class": "1", "inputs": 1, "nvlink": {"least_seconds": 0.0035}, "devlink": {"least_seconds": 0.0021},
   "floor": {"least_seconds": 0.0006}},
  {"class": "shared", "inputs": 10, "nvlink": {"least_seconds": 9}, "devlink": {"least_seconds": 9},
   "floor": {"least_seconds": 9}}
]}
JSON
draws known.json
grep -q 'nvlink: 1 0.003500 s, 10 0.006100 s; devlink: 1 0.002100 s, 10 0.003000 s, 4000 0.500000 s' \
  picture.svg || fail "other points: $(grep desc picture.svg)"
echo '{"classes": []}' >none.json
if "$draw" --print none.json 2>err; then fail "a picture of nothing"; fi
grep -q 'fewer than two classes' err || fail "$(<err)"

readonly bench="$DEVLINK_BUILD/bin/devlink-bench"
if [[ -z ${CUDA_HOME-} || ! -x $bench ]]; then
  echo "pictures are right; the benchmarks were not built, or there is no CUDA toolkit"
  exit 77
fi
"$bench" --class 1 --class 10 --class objects --runs 1 --cache modules --folder . \
  --json found.json >table 2>log || fail "$(cat table log)"
for class in 1 10 objects; do
  grep -qE "^\| $class +\|.*\| +yes \|$" table || fail "not identical: $(<table)"
done
draws found.json
"$bench" --class none 2>err && fail "a class that is not there"
grep -q 'no such class' err || fail "$(<err)"
jit="$DEVLINK_BUILD/bin/devlink-bench-jit"
[[ ! -x $jit ]] || "$jit" --leak 20 >table 2>log || fail "$(cat table log)"
[[ ! -x $jit ]] || grep -qE '^\| undefined +\| +session, pool \|' table || fail "$(<table)"
