# SPDX-License-Identifier: Apache-2.0
#
# Code laid out by what ran. A link runs a little of many functions, so that most of its time goes into
# fetching code; a compiler that knows what runs puts that together and the rest out of the way.
# docs/speed.md ("By what ran") has the figures; scripts/build pgo goes through both steps.

set(DEVLINK_PROFILE "" CACHE STRING
    "record: what is built counts what runs, beside its object files. use: is built by those counts")
set_property(CACHE DEVLINK_PROFILE PROPERTY STRINGS "" record use)
if(NOT DEVLINK_PROFILE MATCHES "^(record|use)?$")
  message(FATAL_ERROR "DEVLINK_PROFILE is record, use or nothing, not '${DEVLINK_PROFILE}'")
endif()
if(DEVLINK_PROFILE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "DEVLINK_PROFILE needs GCC; Clang keeps its counts in another way")
endif()

if(DEVLINK_PROFILE STREQUAL "record")
  # Atomic: threads of one link count in the same places, and the counts are to be the same each time.
  set(devlink_profile_options -fprofile-generate -fprofile-update=atomic)
  add_link_options(-fprofile-generate)
elseif(DEVLINK_PROFILE STREQUAL "use")
  # What never ran is compiled as ever: the links that were counted have no PTX and no LTO IR. What runs
  # once in a link is a thousandth of a large one, and all of a small one.
  set(devlink_profile_options -fprofile-use -fprofile-correction -fprofile-partial-training
                              -Wno-missing-profile --param=hot-bb-count-ws-permille=999)
endif()

# devlink_profile(<target>): links spend their time in it.
function(devlink_profile target)
  target_compile_options(${target} PRIVATE ${devlink_profile_options})
endfunction()
