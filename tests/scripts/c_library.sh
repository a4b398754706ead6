#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libdevlink.so.0 as it is installed: what it exports and needs; programs in C and C++17 that are
# built against it through pkg-config and CMake, with the warnings of a careful project; the example,
# whose cubin is that of the command; and a process that has another LLVM.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
if [[ $(setting DEVLINK_BUILD_C_LIBRARY) != ON ]]; then
  echo "built without libdevlink.so.0"
  exit 77
fi
fail() {
  echo "$*"
  exit 1
}
readonly warnings=(-Wall -Wextra -pedantic -Werror)
readonly golden="$DEVLINK_SOURCE/tests/golden"
readonly example="$DEVLINK_SOURCE/examples/link_from_memory.c"

# Somewhere else than where it was built for.
cmake --install "$DEVLINK_BUILD" --component c --prefix "$PWD/elsewhere" >install.log
mkdir some
mv elsewhere some/prefix
prefix="$PWD/some/prefix"
library="$prefix/lib/libdevlink.so.0"
[[ -f $library ]] || library="$(echo "$prefix"/lib/*/libdevlink.so.0)"
export LD_LIBRARY_PATH="${library%/*}"
[[ -s $prefix/share/doc/devlink/LICENSE ]] || fail "the licence is not installed"
! grep -rlI -e "$DEVLINK_BUILD" -e "$PWD/elsewhere" "$prefix" ||
  fail "these files know where they were built"

# --- What it exports and needs -------------------------------------------------------------------
grep -oE '\bdl_[a-z_0-9]+\(' "$prefix/include/devlink/c/devlink.h" | tr -d '(' | sort -u >declared
nm --dynamic --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >exported
diff <(sed 's/$/@@DEVLINK_0/' declared) exported || fail "the header has other functions"
others="$(nm --dynamic --defined-only "$library" | awk '$2 != "T"' | grep -v ' A DEVLINK_0$' || true)"
[[ -z $others ]] || fail "exported besides: $others"
dynamic="$(readelf --dynamic --wide "$library")"
grep -q 'SONAME.*\[libdevlink.so.0\]' <<<"$dynamic" || fail "another SONAME"
if [[ $(setting DEVLINK_STATIC_DEPENDENCIES) == ON ]]; then
  # The loader by name: it has the variables of threads.
  foreign="$(grep NEEDED <<<"$dynamic" |
    grep -vE '\[(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-x86-64\.so\.2)\]' || true)"
  [[ -z $foreign ]] || fail "needs more than the C library: $foreign"
fi

# --- Programs through pkg-config -----------------------------------------------------------------
if ! command -v pkg-config >/dev/null || ! command -v gcc >/dev/null; then
  echo "no pkg-config or no gcc"
  exit 77
fi
PKG_CONFIG_PATH="$(dirname "$(find "$prefix" -name devlink.pc)")"
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags devlink)"
read -ra libraries <<<"$(pkg-config --libs devlink)"
gcc -std=c11 "${warnings[@]}" "${flags[@]}" "$example" -o example "${libraries[@]}"

# link OPTION...: the example and the command make the same cubin of two that are kept here.
link() {
  local inputs=("$golden/globals.sm_90.1.cubin" "$golden/globals.sm_90.2.cubin")
  ./example sm_90 ours.cubin "${inputs[@]}" -- "$@" >out
  "$DEVLINK" -arch=sm_90 -o theirs.cubin "${inputs[@]}" "$@"
  cmp ours.cubin theirs.cubin
  grep -q '"kernels": \[' out || fail "no report"
}
link
link -r
link -maxrregcount=64 -kernels-used=nothing
status=0
./example sm_90 none.cubin "$golden/globals.sm_90.2.cubin" >out 2>err || status=$?
[[ $status -eq 1 && ! -e none.cubin ]] || fail "half a program was linked"
grep -q '^undefined ' out || fail "no diagnostic says that something is undefined"
grep -q '^link_from_memory error   : Undefined reference' err || fail "no line says so"
! ./example sm_90 none.cubin "$golden/globals.sm_90.1.cubin" -- -nonsense 2>err ||
  fail "-nonsense is taken for an option"
grep -q "Unknown option 'nonsense'" err

# --- PTX and LTO IR, where there are tools for them ------------------------------------------------
if [[ -n ${CUDA_HOME-} ]] && command -v nvcc >/dev/null; then
  cat >k.cu <<'CUDA'
extern __device__ int f(int);
__global__ void k(int *p) { *p = f(*p); }
CUDA
  echo '__device__ int f(int x) { return 3 * x; }' >f.cu
  for unit in k f; do
    nvcc -arch=sm_90 -rdc=true -ptx -o $unit.ptx $unit.cu &
    nvcc -arch=sm_90 -dlto -rdc=true -c -o $unit.o $unit.cu &
  done
  wait
  ./example sm_90 ours.cubin k.ptx f.ptx >out
  "$DEVLINK" -arch=sm_90 -o theirs.cubin k.ptx f.ptx
  cmp ours.cubin theirs.cubin
  if [[ -f $CUDA_HOME/lib64/libnvJitLink.so.13 ]]; then
    ./example sm_90 ours.cubin k.o f.o -- -lto >out
    "$DEVLINK" -arch=sm_90 -lto -o theirs.cubin k.o f.o
    cmp ours.cubin theirs.cubin
  fi
  echo '.version 8.0 .target sm_90 .address_size 64 .func f() { nothing; }' >bad.ptx
  ! ./example sm_90 none.cubin bad.ptx >out 2>err || fail "PTX that is none was linked"
  grep -q '^ptxas' err || fail "the assembler's lines are lost"
fi

# --- The header for C++17, without exceptions and run-time types, as a run-time compiler is built --
cat >other.cc <<'CPP'
#include <devlink/c/devlink.h>

int main() {
  dl_session_options options = {};
  options.size = sizeof options;
  options.target = "sm_80";
  dl_session* session = nullptr;
  dl_outcome* linked = nullptr;
  if (dl_session_create(&options, &session, nullptr) != DL_OK) return 1;
  const dl_status status = dl_session_link(session, &linked, nullptr);
  const bool good = status == DL_OK && dl_outcome_cubin(linked).size > 64;
  dl_outcome_destroy(linked);
  dl_session_destroy(session);
  return good ? 0 : 1;
}
CPP
g++ -std=c++17 -fno-exceptions -fno-rtti "${warnings[@]}" "${flags[@]}" other.cc -o other \
  "${libraries[@]}"
./other

# --- Through CMake, which needs no other package for it -------------------------------------------
mkdir -p project
cp "$example" project/example.c
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(consumer C)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_DISABLE_FIND_PACKAGE_LLVM ON)
set(CMAKE_DISABLE_FIND_PACKAGE_absl ON)
find_package(devlink 0.1 REQUIRED CONFIG COMPONENTS c)
add_executable(consumer example.c)
target_link_libraries(consumer PRIVATE devlink::c)
CMAKE
{
  cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="${warnings[*]}"
  cmake --build project/build
} >project.log 2>&1 || { cat project.log; exit 1; }
link # the command's cubin, to compare with
env -u LD_LIBRARY_PATH project/build/consumer sm_90 ours.cubin "$golden/globals.sm_90.1.cubin" \
  "$golden/globals.sm_90.2.cubin" >out
cmp ours.cubin theirs.cubin

# --- Beside another LLVM --------------------------------------------------------------------------
# The program gives all its names to what it loads; the other LLVM comes first, last, or not at all.
cat >beside.c <<'C'
#define _GNU_SOURCE
#include <devlink/c/devlink.h>
#include <dlfcn.h>
#include <stdio.h>

static int link_nothing(void) {
  const dl_session_options options = {.size = sizeof options, .target = "sm_80"};
  dl_session *session = NULL;
  dl_outcome *linked = NULL;
  int good = dl_session_create(&options, &session, NULL) == DL_OK &&
             dl_session_set_option(session, "-v", NULL) == DL_OK &&
             dl_session_link(session, &linked, NULL) == DL_OK && dl_outcome_cubin(linked).size > 64;
  dl_outcome_destroy(linked);
  dl_session_destroy(session);
  return good;
}

int main(int argc, char **argv) {
  if (!link_nothing()) return 1;
  for (int i = 1; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    if (!link_nothing()) return 3;
  }
  return 0;
}
C
gcc -std=c11 "${warnings[@]}" "${flags[@]}" -rdynamic beside.c -o beside "${libraries[@]}" -ldl
./beside
tried=0
ldconfig -p >libraries
path_of() { awk -v name="$1" 'index($1, name) == 1 { print $NF; exit }' libraries; }
for version in 14 15 16 19; do
  other="$(path_of "libLLVM-$version.so")"
  [[ -n $other ]] || other="$(path_of "libLLVM.so.$version")"
  [[ -n $other ]] || continue
  ./beside "$other" || fail "does not work when $other is loaded behind it"
  LD_PRELOAD="$other" ./beside || fail "does not work when $other is loaded before it"
  tried=$((tried + 1))
done
echo "beside $tried other LLVMs"

# --- Nothing is lost ------------------------------------------------------------------------------
if command -v valgrind >/dev/null && command -v strip >/dev/null; then
  strip "$library" # valgrind knows an earlier form of notes for debuggers only
  check=(valgrind --quiet --leak-check=full --error-exitcode=9)
  "${check[@]}" ./example sm_90 ours.cubin "$golden"/globals.sm_90.{1,2}.cubin -- -v >out 2>err ||
    fail "valgrind finds: $(grep '^==' err)"
  status=0
  "${check[@]}" ./example sm_90 none.cubin "$golden/globals.sm_90.2.cubin" >out 2>err || status=$?
  [[ $status -eq 1 ]] || fail "of a link that fails valgrind finds: $(grep '^==' err)"
fi

# --- Snippets of the documentation are lines of the example ---------------------------------------
python3 - "$example" "$DEVLINK_SOURCE/docs/c-api.md" <<'PYTHON'
import re, sys
def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]
code = lines(open(sys.argv[1]).read())
snippets = re.findall(r"```c\n(.*?)```", open(sys.argv[2]).read(), re.S)
assert len(snippets) >= 5, "docs/c-api.md has hardly a snippet"
for snippet in map(lines, snippets):
    if not any(code[i : i + len(snippet)] == snippet for i in range(len(code))):
        sys.exit("not in the example:\n" + "\n".join(snippet))
PYTHON
