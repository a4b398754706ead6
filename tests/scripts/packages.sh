#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages of this build and the list of what is linked in (SPDX): the same twice, complete, and
# of use: what they unpack runs, and programs in C and C++ are built with it.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
if [[ $(setting DEVLINK_BUILD_C_LIBRARY) != ON || $(setting DEVLINK_STATIC_DEPENDENCIES) != ON ]]; then
  echo "built without what other machines could load"
  exit 77
fi
if ! command -v dpkg-deb >/dev/null || ! command -v strip >/dev/null; then
  echo "no dpkg-deb or no strip"
  exit 77
fi
fail() {
  echo "$*"
  exit 1
}

# --- The packages ----------------------------------------------------------------------------------
# At another time, by a user with other habits. Not compressed, for the sake of time.
make=("$DEVLINK_SOURCE/scripts/package-deb" --build "$DEVLINK_BUILD" --level 0 --output)
SOURCE_DATE_EPOCH=1700000000 "${make[@]}" first >made.txt
(umask 077 && TZ=Asia/Tokyo LC_ALL=C PYTHONHASHSEED=7 SOURCE_DATE_EPOCH=1700000000 \
  "${make[@]}" second >/dev/null)
diff -r first second || fail "two times packages of one build differ"
[[ $(wc -l <made.txt) -eq 4 ]] || fail "made: $(<made.txt)"

root="$PWD/root"
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
touch "$root/var/lib/dpkg/status"
if [[ $(id -u) -eq 0 ]]; then
  # As dpkg does it, so that no file is in two packages. What they depend on is not in this root.
  dpkg --root="$root" --force-depends --force-script-chrootless --install first/*.deb >dpkg.log 2>&1 ||
    fail "dpkg: $(tail -n 5 dpkg.log)"
else
  for package in first/*.deb; do dpkg-deb -x "$package" "$root"; done
fi
! grep -rlI -e "$DEVLINK_BUILD" "$root/usr" || fail "these files know where they were built"
[[ -z $(find "$root" -name '*ptxcompiler*') ]] || fail "NVIDIA's compiler is in a package"
for package in libdevlink0 libdevlink-dev devlink python3-devlink; do
  [[ -s $root/usr/share/doc/$package/copyright ]] || fail "$package has no copyright"
done
for part in libabsl-dev libfmt-dev liblz4-dev libspdlog-dev libstdc++-12-dev libzstd-dev llvm-19-dev; do
  [[ ! -e /usr/share/doc/$part/copyright || -s $root/usr/share/doc/devlink/parts/$part.copyright.gz ]] ||
    fail "the licence of $part is missing"
done
if command -v lintian >/dev/null; then
  for package in first/*.deb; do
    lintian --allow-root --fail-on error "$package" >lintian.log 2>&1 || fail "$(<lintian.log)"
  done
else
  echo "no lintian: the packages were not looked at with it"
fi

# --- What they unpack ------------------------------------------------------------------------------
golden="$DEVLINK_SOURCE/tests/golden"
inputs=("$golden/globals.sm_90.1.cubin" "$golden/globals.sm_90.2.cubin")
"$DEVLINK" -arch=sm_90 -o wanted.cubin "${inputs[@]}"
"$root/usr/bin/devlink" -arch=sm_90 -o unpacked.cubin "${inputs[@]}"
cmp wanted.cubin unpacked.cubin
export LD_LIBRARY_PATH="$root/usr/lib"
PYTHONPATH="$root/usr/lib/python3/dist-packages" python3 -B - "${inputs[@]}" <<'PYTHON'
import sys
import devlink
open("python.cubin", "wb").write(devlink.link(sys.argv[1:], "sm_90").cubin)
PYTHON
cmp wanted.cubin python.cubin

mkdir project
cp "$DEVLINK_SOURCE/examples/link_from_memory.c" project/example.c
cat >project/plus.cc <<'CPP'
#include <devlink/devlink.h>

int main() {
  auto session = devlink::LinkSession::Create({.target = devlink::Arch{.number = 80}});
  return session.ok() && session->Link().ok() ? 0 : 1;
}
CPP
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(consumer C CXX)
find_package(devlink 0.1 REQUIRED CONFIG COMPONENTS c cxx)
add_executable(consumer example.c)
target_link_libraries(consumer PRIVATE devlink::c)
add_executable(plus plus.cc)
target_link_libraries(plus PRIVATE devlink::devlink)
CMAKE
{
  cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$(setting CMAKE_CXX_COMPILER)"
  cmake --build project/build --parallel 2
} >project.log 2>&1 || { cat project.log; exit 1; }
project/build/consumer sm_90 ours.cubin "${inputs[@]}" >out
cmp wanted.cubin ours.cubin
project/build/plus

# --- What is linked in -----------------------------------------------------------------------------
"$DEVLINK_SOURCE/scripts/sbom" --build "$DEVLINK_BUILD" --strict >/dev/null || fail "a part is unknown"
gzip -dc "$root/usr/share/doc/devlink/devlink.spdx.json.gz" >devlink.spdx.json
python3 - devlink.spdx.json "$DEVLINK_BUILD" <<'PYTHON'
import hashlib, json, pathlib, re, subprocess, sys
document = json.load(open(sys.argv[1]))
build = pathlib.Path(sys.argv[2])
for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
    assert document[key], key
assert (document["spdxVersion"], document["dataLicense"]) == ("SPDX-2.3", "CC0-1.0")
assert document["creationInfo"]["created"] == "2023-11-14T22:13:20Z", document["creationInfo"]
packages = {p["SPDXID"]: p for p in document["packages"]}
assert len(packages) == len(document["packages"]), "an id stands twice"
for identity, package in packages.items():
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identity), identity
    for key in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared"):
        assert package[key], (identity, key)
    refs = set(re.findall(r"LicenseRef-[\w.-]+", package["licenseDeclared"]))
    told = {i["licenseId"] for i in document.get("hasExtractedLicensingInfos", [])}
    assert refs <= told, refs - told
linked = {}
for relation in document["relationships"]:
    one, kind, other = (
        relation[k] for k in ("spdxElementId", "relationshipType", "relatedSpdxElement")
    )
    assert {one, other} <= {*packages, "SPDXRef-DOCUMENT"}, relation
    if kind == "STATIC_LINK":
        linked.setdefault(packages[one]["name"], set()).add(packages[other]["name"])
# By another way: names that the program has of each.
names = subprocess.run(
    ["nm", "--demangle", build / "bin/devlink"], capture_output=True, text=True, check=True
).stdout
for component, pattern in {
    "LLVM": r"\bllvm::",
    "BLAKE3": r"\bllvm_blake3_",
    "Abseil": r"\babsl::",
    "zstd": r"\bZSTD_decompress",
    "LZ4": r"\bLZ4_decompress",
    "fmt": r"\bfmt::v\d+::",
    "spdlog": r"\bspdlog::",
    "libstdc++": r"\bstd::",
}.items():
    assert (component in linked["devlink"]) == bool(re.search(pattern, names)), component
assert {"BLAKE3", "LLVM", "Abseil"} <= linked["devlink"]
assert "LLVM" not in linked["devlink-diff"] and "fmt" not in linked["devlink-diff"]
assert any(name.startswith("libdevlink.so.0") for name in linked)
for package in packages.values():
    for checksum in package.get("checksums", []):
        folders = (build / "bin", build / "lib", build / "lib/nvjitlink")
        path = next(f / package["name"] for f in folders if (f / package["name"]).exists())
        assert hashlib.sha256(path.read_bytes()).hexdigest() == checksum["checksumValue"], path
versions = {p["name"]: p["versionInfo"] for p in packages.values()}
print(", ".join(f"{name} {versions[name]}" for name in sorted(linked["devlink"])))
PYTHON
