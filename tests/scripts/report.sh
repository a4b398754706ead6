#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Reports of real programs: the JSON is JSON, what --reproduce keeps links again to the same bytes, make and
# ninja read the dependency file, and the page works in a browser where there is one (Chromium).
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

cat >a.cu <<'CUDA'
#include <cstdio>
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ int helper(int);
__device__ int unused(int x) { return helper(x) * 3; }
__device__ int table[100];
__constant__ int limits[4];
__device__ int (*op)(int) = unused;
__global__ void k(int* p) {
  __shared__ int s[32];
  s[threadIdx.x] = *p;
  __syncthreads();
  *p = helper(twice(*p)) + table[*p] + limits[1] + s[3];
  if (*p) printf("%d\n", *p);
}
__global__ void k2(double* p) { *p = twice(*p) + op((int)*p); }
CUDA
cat >b.cu <<'CUDA'
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ __noinline__ int deep(int x) {
  volatile int a[20];
  a[x] = x;
  return a[x / 2] + twice(x);
}
__device__ int helper(int x) { return deep(x) + 1; }
__device__ int dead(int x) { return deep(x) + 2; }
CUDA
nvcc -arch=sm_80 -dc a.cu b.cu
"$DEVLINK" -arch=sm_80 a.o b.o -o plain.cubin

# The same bytes, and all reports.
echo nothing >names.txt
"$DEVLINK" -arch=sm_80 a.o b.o -o names.cubin --retain-symbols-file=names.txt --dependency-file=n.d --reproduce=n.tar
grep -q 'names.txt' n.d
mkdir listed
tar -C listed -xf n.tar
(cd / && "$OLDPWD/listed/n/link.sh")
cmp names.cubin listed/n/out.cubin
"$DEVLINK" -arch=sm_80 a.o b.o -o x.cubin --report=r.json --map=r.map --dependency-file=r.d --reproduce=r.tar \
  --size --why-live=deep --why-live=dead --why-registers=k --why-input=b.o >answers
cmp plain.cubin x.cubin
grep -q '^  calls deep(int) in .b.o.$' answers
grep -q '^  it is not in the output: no kernel that stays reaches it$' answers
grep -q '^   *[0-9]* of deep(int) in .b.o.$' answers
python3 - <<'PYTHON'
import json
import re

report = json.load(open("r.json", encoding="utf-8"))
details = report["details"]
functions = {f["name"]: f for f in details["functions"]}
assert functions["_Z4deadi"]["why"] == "dead"
assert functions["_Z4deepi"]["why"] == "called"
assert details["functions"][functions["_Z4deepi"]["reached_from"]]["name"] == "_Z6helperi"
assert functions["_Z5twiceIiET_S0_"]["copies"] == 2
assert functions["_Z6unusedi"]["address_taken"] and functions["_Z6unusedi"]["why"] == "called-through-pointer"
assert functions["vprintf"]["input"] is None
sections = {s["name"]: s for s in details["sections"]}
assert sections[".nv.global"]["bytes"] == 400 and sections[".nv.global"]["file_bytes"] == 0
text = open("r.map", encoding="utf-8").read()
assert re.search(r"^ +\S+ +400  global +a\.o +table$", text, re.M)
PYTHON

# What was kept links again, elsewhere, to the same program.
mkdir elsewhere
tar -C elsewhere -xf r.tar
(cd / && "$OLDPWD/elsewhere/r/link.sh")
cmp x.cubin elsewhere/r/out.cubin

# A rule that make obeys.
cat >Makefile <<MAKE
x.cubin:
	@echo made >>log
include r.d
MAKE
if command -v make >/dev/null; then
  touch x.cubin
  make -s x.cubin
  [[ ! -e log ]]
  touch -d '+1 minute' b.o
  make -s x.cubin
  [[ -s log ]]
fi

# No file of two names, and none over an input.
cp a.o unused.o && ar rc libunused.a unused.o
for words in "--report=libunused.a -L. -lunused" "--map=one.cubin -o one.cubin" "--map=one --report=./one" "--report=a.o" "--reproduce=b.o"; do
  # shellcheck disable=SC2086 # words of a command line
  if "$DEVLINK" -arch=sm_80 a.o b.o -o two.cubin $words 2>refused; then
    echo "not refused: $words"
    exit 1
  fi
  grep -q "is the file of" refused
done
"$DEVLINK" -arch=sm_80 a.o b.o -o /dev/null --map=/dev/null --report=/dev/null

# Messages as data, of wrong words, too.
"$DEVLINK" --diagnostics-format=sarif -arch=sm_80 -bogus 2>sarif || true
python3 -c 'import json; json.load(open("sarif"))["runs"][0]["results"][0]'
"$DEVLINK" -diagnostics-format json -arch=sm_81 -o y.cubin a.o 2>lines || true
python3 -c 'import json; [json.loads(line) for line in open("lines")]'
status=0
"$DEVLINK" -arch=sm_80 a.o -o y.cubin --diagnostics-format=sarif 2>sarif || status=$?
[[ $status == 255 ]]
python3 -c 'import json; d = json.load(open("sarif")); assert d["runs"][0]["results"][0]["ruleId"] == "undefined-reference"'
"$DEVLINK" -arch=sm_80 a.o -o y.cubin --diagnostics-format=json 2>lines || true
python3 -c 'import json; [json.loads(line) for line in open("lines")]'
"$DEVLINK" -arch=sm_80 a.o -o y.cubin --color=always 2>colors || true
grep -q $'\x1b\\[1;31m error   \x1b\\[0m: Undefined' colors

# The page, with thousands of functions.
python3 - <<'PYTHON'
print_ptx = [".version 9.0\n.target sm_80\n.address_size 64\n"]
for i in range(5000):
    print_ptx.append(f".func _Z5otherIi{i}ET_v() {{ ret; }}\n")
for k in range(100):
    calls = "".join(f"call _Z5otherIi{i}ET_v;\n" for i in range(k * 50, k * 50 + 50))
    print_ptx.append(f".entry kernel{k}() {{ {calls} ret; }}\n")
open("many.ptx", "w", encoding="utf-8").write("".join(print_ptx))
PYTHON
"$CUDA_HOME/bin/ptxas" -arch=sm_80 -c many.ptx -o many.cubin
"$DEVLINK" -arch=sm_80 a.o b.o many.cubin -o z.cubin --report=page.html
# And one of kernels as libraries have them, whose names take kilobytes.
cat >sort.cu <<'CUDA'
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
int Sort(int n) {
  thrust::device_vector<int> keys(n, 1);
  thrust::device_vector<double> values(n);
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  thrust::inclusive_scan(keys.begin(), keys.end(), keys.begin());
  return keys[0];
}
CUDA
nvcc -std=c++17 -arch=sm_80 -rdc=true -c sort.cu -o sort.o
"$DEVLINK" -arch=sm_80 sort.o "-L$runtime" -lcudadevrt -o sort.cubin --report=sort.html
grep -q radix_sort sort.html
browser=$(command -v chromium || command -v google-chrome || true)
if [[ -n $browser ]]; then
  for page in "page.html twice" "sort.html radix_sort"; do
    read -r file word <<<"$page"
    mkdir "pictures_$word"
    python3 "$DEVLINK_SOURCE/tests/scripts/support/browser.py" "$browser" "$file" "pictures_$word" \
      "$word" || { [[ $? == 77 ]] || exit 1; }
  done
else
  echo "there is no Chromium: the pages were not opened"
fi
