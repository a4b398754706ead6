# SPDX-License-Identifier: Apache-2.0
#
# Files compiled together, since most of what a compiler does for a small file is to read headers. What
# one file calls a thing of its own is then no other's name: tests/unit/tree/own_names_test.cc.

option(DEVLINK_UNITY "Compile the files of each folder of the library as one" OFF)
option(DEVLINK_UNITY_TESTS "Compile the files of each unit test as one" OFF)

# Files of a target for which the first group of the pattern is the same are one file to the compiler; those
# that the pattern does not name stay by themselves.
function(devlink_group target pattern)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "${pattern}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# devlink_unity(<target>)
function(devlink_unity target)
  if(NOT DEVLINK_UNITY)
    return()
  endif()
  devlink_group(${target} "^src/([a-z_]+)/")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes a file's own types for a header's, and warns of names in headers that a file does not have.
    target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
  endif()
endfunction()

# devlink_unity_test(<target>)
function(devlink_unity_test target)
  if(DEVLINK_UNITY_TESTS)
    devlink_group(${target} "^unit/([a-z_-]+)/")
  endif()
endfunction()
