#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# devlink-inspect beside other readers of what nvcc makes: readelf for sections, symbols and
# relocations; ptxas and nvlink for resources; NVIDIA's nvdisasm and cuobjdump, where there are any,
# for names.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
inspect="$(dirname "$DEVLINK")/devlink-inspect"

cat >a.cu <<'CUDA'
#include <cstdio>
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ int seeded = 5;
__device__ __managed__ int both;
__device__ int shade(int);
__device__ __noinline__ int helper(int x, int (*f)(int)) { return f(x) + weights[x & 3]; }
__device__ __noinline__ int leaf(int x) { volatile int a[16]; a[x] = x; return a[x / 2]; }
extern __shared__ int dynamic[];
__global__ void draw(int* p) {
  __shared__ int tile[32];
  tile[*p] = 1;
  __syncthreads();
  *p = shade(*p) + helper(tile[3], leaf) + dynamic[1];
  printf("%d\n", *p);
  atomicAdd(&counter, seeded + both);
}
namespace n { template <class T> __global__ void fill(T* p, double d) { p[0] = d * 3.14159265358979; } }
template __global__ void n::fill<float>(float*, double);
int main() { draw<<<1, 1>>>(nullptr); }
CUDA
cat >b.cu <<'CUDA'
__device__ int shade(int x) { return x * 7; }
CUDA

for arch in sm_80 sm_90 sm_100; do
  nvcc -rdc=true -cubin -arch=$arch -o "a.$arch.cubin" a.cu
  nvcc -rdc=true -cubin -arch=$arch -o "b.$arch.cubin" b.cu
  # Weak names aside, all is defined: what the driver has, it has.
  nvlink -arch=$arch -v -o "linked.$arch.cubin" "a.$arch.cubin" "b.$arch.cubin" >"linked.$arch.txt" 2>&1
done
nvcc -rdc=true -c -gencode "arch=compute_80,code=[sm_80,compute_80]" \
  -gencode arch=compute_100,code=sm_100 a.cu b.cu
nvcc -dlto -rdc=true -arch=sm_90 -c -o lto.o b.cu
nvcc -fatbin -rdc=true -arch=sm_90 -o b.fatbin b.cu
nvcc -dlto -ltoir -arch=sm_90 -o b.ltoir b.cu
nvcc -ptx -rdc=true -arch=sm_80 -o a.ptx a.cu
ar rcs lib.a a.o b.o

# Every kind of file is shown, in both forms.
files=(a.*.cubin linked.*.cubin a.o lto.o b.fatbin b.ltoir a.ptx lib.a)
"$inspect" "${files[@]}" >summary.txt
"$inspect" --all "${files[@]}" >all.txt
"$inspect" --all --json "${files[@]}" >all.json
grep -q 'draw(int\*)' summary.txt
if grep 'problem:' all.txt; then exit 1; fi

# A page, which a browser opens where there is one: names of files and of symbols stay text.
hostile='</script><script>harmed = 1<!-- <img src=x onerror=harmed=1>.ptx'
mkdir named
sed 's/\.target sm_80/&\n.global .align 4 .u32 img_src_x;/' a.ptx >"named/${hostile##*/}"
"$inspect" --html "named/${hostile##*/}" a.o linked.sm_100.cubin >page.html
python3 - <<'PY'
import json
import re

page = open("page.html", encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
assert page.count("</script>") == 3 and "<img" not in page and "<!-- <" not in page, "a name became markup"
assert not re.search(r'(src|href)=["\']?(https?:)?//', page), "the page loads something"
assert [f["kind"] for f in data["files"]] == ["ptx", "host-object", "cubin"]
assert data["files"][0]["name"].startswith("named/script><script>harmed"), data["files"][0]["name"]
tables = {t["key"]: t for t in data["files"][2]["tables"]}
assert {"sections", "symbols", "kernels", "attributes", "tools"} <= set(tables)
text = {f["name"]: f for f in json.load(open("all.json"))["files"]}["linked.sm_100.cubin"]
for key in tables:
    assert len(tables[key]["rows"]) == len(text[key]), key
PY
browser=$(command -v chromium || command -v google-chrome || true)
if [[ -n $browser ]]; then
  mkdir pictures
  python3 "$DEVLINK_SOURCE/tests/scripts/support/browser.py" "$browser" page.html pictures inspect || {
    [[ $? == 77 ]] || exit 1
  }
else
  echo "there is no Chromium: the page was not opened"
fi

# expect STATUS COMMAND...: standard error goes to error.txt.
expect() {
  local wanted="$1" status=0
  shift
  "$@" 2>error.txt || status=$?
  [[ $status -eq $wanted ]] || { echo "status $status, not $wanted: $*"; exit 1; }
}

# Status: what cannot be read does not hide the others; a wrong command line is another matter; and
# what nobody takes was not shown.
expect 1 "$inspect" missing.cubin b.fatbin >one.txt
grep -q 'b.fatbin: fatbin' one.txt
grep -q "'missing.cubin'" error.txt
expect 1 "$inspect" a.cu >/dev/null
expect 2 "$inspect" --no-such-option a.o
expect 1 "$inspect" b.fatbin >/dev/full
expect 1 "$inspect" b.fatbin >&-

# Members come out as they went in: ar and nvcc have them, too.
"$inspect" --extract a.o -o out lib.a >names.txt
cmp out/lib.a.a.o a.o
"$inspect" --extract 1.sm_80.cubin -o out a.o >>names.txt
cmp out/a.o.1.sm_80.cubin a.sm_80.cubin
"$inspect" --extract all -o every lib.a lto.o >>names.txt
[[ $(find every -type f | wc -l) -eq 8 ]]
"$inspect" every/*.cubin every/*.ptx every/*.fatbin >/dev/null
expect 1 "$inspect" --extract all -o every lib.a
grep -q -- '--force' error.txt
"$inspect" --force --extract all -o every lib.a >/dev/null

for cubin in a.*.cubin linked.*.cubin; do
  readelf -sW "$cubin" >"$cubin.symbols" 2>/dev/null
  readelf -rW "$cubin" >"$cubin.relocations" 2>/dev/null
  readelf -SW "$cubin" >"$cubin.sections" 2>/dev/null
  [[ -z ${NVDISASM-} ]] || "$NVDISASM" "$cubin" >"$cubin.sass"
  ! command -v cuobjdump >/dev/null || { cuobjdump -elf "$cubin"; cuobjdump -res-usage "$cubin"; } \
    >"$cubin.dump" 2>&1
done

python3 -B - <<'PY'
import glob
import json
import os
import re

files = {f["name"]: f for f in json.load(open("all.json"))["files"]}
compared = dict.fromkeys(("sections", "symbols", "relocations", "attributes", "resources",
                          "cuobjdump"), 0)


def rows(path, pattern):
    return [m.groups() for m in map(re.compile(pattern).match, open(path, errors="replace")) if m]


def check(what, ours, theirs, name):
    assert theirs, f"{name}: nothing to compare {what} with"
    if ours != theirs:
        left = [o for o in ours if o not in theirs]
        right = [t for t in theirs if t not in ours]
        raise SystemExit(f"{name}: {what} differ:\n- {left}\n+ {right}")
    compared[what] += len(theirs)


def compare_with_readelf(name, file):
    theirs = rows(name + ".sections", r" +\[ *(\d+)\] (\S+) +\S+ +[0-9a-f]{16} ([0-9a-f]+) ([0-9a-f]+) ")
    ours = [(s["index"], s["name"], s["offset"], s["size"]) for s in file["sections"] if s["index"]]
    check("sections", ours, [(int(i), n, int(o, 16), int(s, 16)) for i, n, o, s in theirs], name)

    theirs = rows(name + ".symbols",
                  r" +(\d+): ([0-9a-f]{16}) +(\d+|0x[0-9a-f]+) \S.*? (LOCAL|GLOBAL|WEAK) .* +(\S+) ?(\S*)$")
    places = {"UND": 0, "ABS": 0xfff1, "COM": 0xfff2}
    theirs = [(int(i), int(v, 16), int(s, 0), b) for i, v, s, b, _, _ in theirs]
    ours = [(s["index"], s["value"], s["size"], s["binding"]) for s in file["symbols"]
            if s["table"] == ".symtab"]
    check("symbols", ours, theirs, name)
    # Names are at the end of a line, and there are some everywhere but in the first.
    named = rows(name + ".symbols", r" +\d+: [0-9a-f]{16} .* (\S+)$")
    check("symbols", [s["name"] for s in file["symbols"]
                      if s["table"] == ".symtab" and s["name"]], [n for n, in named], name)

    theirs = rows(name + ".relocations", r"([0-9a-f]{16})  ([0-9a-f]{8})([0-9a-f]{8}) ")
    ours = [(r["offset"], r["symbol_index"], r["type_number"]) for r in file["relocations"]
            if not r["section"].startswith(".nv.merc")]
    if theirs or ours:
        check("relocations", ours, [(int(o, 16), int(s, 16), int(t, 16)) for o, s, t in theirs], name)


def compare_with_nvdisasm(name, file):
    # It shows the module's attributes, and each function's where the function is.
    theirs = sorted(n for n, in rows(name + ".sass", r"\s*//----- nvinfo : EIATTR_(\w+)"))
    ours = sorted(a["attribute"] for a in file["attributes"]
                  if not a["section"].startswith(".nv.merc"))
    check("attributes", ours, theirs, name)


def compare_with_cuobjdump(name, file):
    text = open(name + ".dump", errors="replace").read()
    used = re.findall(r" Function (\S+):\n +REG:(\d+) STACK:(\d+) SHARED:(\d+)", text)
    kernels = {k["name"]: k for k in file["kernels"]}
    assert used, name
    for function, registers, stack, shared in used:
        if function not in kernels:
            continue
        mine = kernels[function]
        assert mine["registers"] == int(registers), (name, mine, registers)
        # Before a link nothing is known of the stack.
        assert (mine["stack_bytes"] or 0) == int(stack), (name, mine, stack)
        assert mine["shared_bytes"] == int(shared), (name, mine, shared)
        compared["cuobjdump"] += 1
    # Relocations with their names; those of the Mercury view it leaves out.
    theirs = [(int(o, 16), n, t)
              for o, n, t in re.findall(r"^(0x[0-9a-f]+|0)\s+(\S+)\s+(R_\w+)", text, re.M)]
    ours = [(r["offset"], r["symbol"], r["type"]) for r in file["relocations"]
            if not r["section"].startswith(".nv.merc")]
    if theirs:
        assert sorted(ours) == sorted(theirs), (name, set(ours) ^ set(theirs))
        compared["cuobjdump"] += len(theirs)


def compare_with_nvlink(arch):
    text = open(f"linked.{arch}.txt").read()
    kernels = {k["name"]: k for k in files[f"linked.{arch}.cubin"]["kernels"]}
    found = re.findall(r"Function properties for '(\S+)':\n.*: used (\d+) registers, used (\d+) "
                       r"barriers, (\d+) stack, (\d+) bytes smem(?:, (\d+) bytes cmem\[0\])?", text)
    assert len(found) == len(kernels), (arch, text)
    for name, registers, barriers, stack, shared, bank in found:
        mine = kernels[name]
        assert mine["registers"] == int(registers), (arch, name, mine, registers)
        assert mine["stack_bytes"] == int(stack), (arch, name, mine, stack)
        assert (mine["barriers"] or 0) == int(barriers or 0), (arch, name, mine, barriers)
        # From sm_100 on it leaves out what the system keeps.
        kept = 0x400 if arch == "sm_100" and int(shared) else 0
        assert mine["shared_bytes"] == int(shared) + kept, (arch, name, mine, shared)
        # From sm_100 on nvlink says nothing of constants.
        assert not bank or mine["parameter_bytes"] == int(bank), (arch, name, mine, bank)
        compared["resources"] += 1


for path in sorted(glob.glob("*.cubin")):
    if path not in files:
        continue
    compare_with_readelf(path, files[path])
    if os.path.exists(path + ".sass"):
        compare_with_nvdisasm(path, files[path])
    if os.path.exists(path + ".dump"):
        compare_with_cuobjdump(path, files[path])
for arch in ("sm_80", "sm_90", "sm_100"):
    compare_with_nvlink(arch)

members = files["lib.a"]["members"]
assert [m["name"] for m in members] == ["a.o", "b.o"]
assert [m["name"] for m in members[0]["members"]] == [
    "1.sm_80.cubin", "2.compute_80.ptx", "3.sm_100.cubin"], members[0]
direct, packed = files["a.sm_80.cubin"], members[0]["members"][0]
for part in ("sections", "symbols", "kernels", "undefined"):
    assert direct[part] == packed[part], part
assert files["b.ltoir"]["arch"] == "lto_90"
protected = [m for m in files["lto.o"]["members"] if m["kind"] == "lto-ir"]
assert len(protected) == 1 and protected[0]["is_obfuscated"], protected
assert {"draw", "fill"} <= {re.sub(r".*?(draw|fill).*", r"\1", d["name"])
                            for d in files["a.ptx"]["declarations"] if d["kind"] == "kernel"}
# The document that describes it knows every key.
text = open(os.environ["DEVLINK_SOURCE"] + "/docs/inspect.md").read()
known = set(re.findall(r"`(\w+)`", text))


def keys(value):
    if isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys(part)


unknown = set(keys(list(files.values()))) - known
assert not unknown, f"docs/inspect.md does not name {sorted(unknown)}"
print(", ".join(f"{count} {what}" for what, count in compared.items()), "compared")
PY
