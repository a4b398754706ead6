#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A host project that finds the installed package and links it into a shared object, as a plug-in
# does: it builds, works, and gives its process no LLVM, since the host may have another.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
if [[ -n $(setting DEVLINK_SANITIZE) ]]; then
  echo "built with a sanitizer, which a plug-in would need, too"
  exit 77
fi

cmake --install "$DEVLINK_BUILD" --prefix "$PWD/prefix" >install.log
mkdir host
cat >host/plugin.cc <<'CPP'
#include <devlink/devlink.h>

extern "C" int link_nothing() {
  auto session = devlink::LinkSession::Create({.target = devlink::Arch{.number = 80}});
  return session.ok() && session->Link().ok() ? 0 : 1;
}
CPP
cat >host/host.cc <<'CPP'
extern "C" int link_nothing();
int main() { return link_nothing(); }
CPP
cat >host/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(host CXX)  # the package says which C++ its headers need
find_package(devlink REQUIRED CONFIG)
add_library(plugin SHARED plugin.cc)
target_link_libraries(plugin PRIVATE devlink::devlink)
add_executable(host host.cc)
target_link_libraries(host PRIVATE plugin)
CMAKE
{
  cmake -S host -B host/build -DCMAKE_PREFIX_PATH="$PWD/prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$(setting CMAKE_CXX_COMPILER)"
  cmake --build host/build
} >host.log 2>&1 || { cat host.log; exit 1; }

host/build/host
! readelf --dynamic --wide host/build/libplugin.so | grep -E 'NEEDED.*(curl|hiredis)' ||
  { echo "a plug-in without a network needs a library for one"; exit 1; }
nm --dynamic --defined-only --demangle host/build/libplugin.so >names
grep -q ' link_nothing$' names || { echo "the plug-in's own function is not there"; exit 1; }
if grep -E '\bllvm::|LLVM' names >of_llvm; then
  echo "$(wc -l <of_llvm) names of LLVM are exported, such as"
  head -n 3 of_llvm
  exit 1
fi
