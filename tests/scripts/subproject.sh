#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A host project of C++ alone that takes the sources in, with add_subdirectory and with FetchContent: it
# is configured, also where a C compiler is named, keeps its own settings, gets the library and nothing
# else, and compiles against it, also without exceptions and run-time types. The library itself is not
# built again.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
fail() {
  echo "$*"
  exit 1
}
if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then
  echo "no cmake or no ninja"
  exit 77
fi
compilers=("-DCMAKE_CXX_COMPILER=$(setting CMAKE_CXX_COMPILER)")
if command -v clang-19 >/dev/null && command -v clang++-19 >/dev/null; then
  compilers=(-DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19)
else
  echo "no clang-19: not with a C compiler that is named"
fi

mkdir added fetched
cat >added/main.cc <<'CPP'
#include <devlink/devlink.h>

int main() {
  auto session = devlink::LinkSession::Create({.target = devlink::Arch{.number = 80}});
  return session.ok() && session->Link().ok() ? 0 : 1;
}
CPP
cp added/main.cc fetched/
# host HOW: a project whose sources of devlink come in this way.
host() {
  cat <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(host CXX)
$1
add_executable(host main.cc)
target_compile_options(host PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Werror
                       -Wno-missing-field-initializers)
target_link_libraries(host PRIVATE devlink::devlink)
get_property(type CACHE CMAKE_BUILD_TYPE PROPERTY VALUE)
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(ffi DEFINITION CMAKE_DISABLE_FIND_PACKAGE_FFI)
file(WRITE "\${CMAKE_BINARY_DIR}/settings.txt" "\${type}|\${options}|\${ffi}|\${BUILD_TESTING}")
CMAKE
}
host "add_subdirectory(\"$DEVLINK_SOURCE\" devlink)" >added/CMakeLists.txt
host "include(FetchContent)
FetchContent_Declare(devlink SOURCE_DIR \"$DEVLINK_SOURCE\")
FetchContent_MakeAvailable(devlink)" >fetched/CMakeLists.txt

for way in added fetched; do
  cmake -G Ninja -S $way -B $way/build "${compilers[@]}" >$way.log 2>&1 || { cat $way.log; exit 1; }
  [[ $(<$way/build/settings.txt) == "|||" ]] || fail "$way: settings of the host: $(<$way/build/settings.txt)"
  ninja -C $way/build -t targets all >$way.targets
  if grep -E '^(devlink_cli|architecture_test|link_two_cubins|devlink_shared)' $way.targets; then
    fail "$way: more than the library would be built"
  fi
  grep -q 'libdevlink\.a:' $way.targets || fail "$way: the library would not be built"
  ninja -C $way/build CMakeFiles/host.dir/main.cc.o >$way.build 2>&1 || { cat $way.build; exit 1; }
  # The compiler's own warnings are the host's, and so is what its install has.
  [[ -z $(ninja -C $way/build -t commands CMakeFiles/host.dir/main.cc.o | grep -e -Wshadow || true) ]] ||
    fail "$way: the host is compiled with options of devlink"
  cmake --install $way/build --prefix "$PWD/$way/prefix" >install.log 2>&1 || true
  [[ ! -e $way/prefix/include/devlink ]] || fail "$way: the host installs devlink"
done
