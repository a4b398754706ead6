# SPDX-License-Identifier: Apache-2.0
#
# Headers that most files include are read once, not five hundred times. What a file itself has to
# include does not change by that: tests/unit/tree/includes_test.cc reads this list.

option(DEVLINK_PRECOMPILE "Precompile the headers that most files include" OFF)

set(devlink_precompiled
    <algorithm> <array> <cstddef> <cstdint> <cstring> <functional> <iterator> <limits> <map> <memory>
    <optional> <span> <string> <string_view> <utility> <vector>
    <absl/container/flat_hash_map.h> <absl/status/statusor.h> <absl/strings/str_cat.h>)

# Of the code of a system's header GCC says nothing, until that is precompiled; and false alarms are many
# (bugs 105329 and 105651).
set(devlink_precompiled_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(devlink_precompiled_options -Wno-array-bounds -Wno-stringop-overflow)
endif()

# devlink_precompile(<target> [<header>...]): its files are compiled with these headers, too.
function(devlink_precompile target)
  if(DEVLINK_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${devlink_precompiled} ${ARGN})
    target_compile_options(${target} PRIVATE ${devlink_precompiled_options})
  endif()
endfunction()

# devlink_precompiled_by(<target> <other>): with those of another target, whose options it has.
function(devlink_precompiled_by target other)
  if(DEVLINK_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_compile_options(${target} PRIVATE ${devlink_precompiled_options})
  endif()
endfunction()
