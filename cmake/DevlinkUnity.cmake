# SPDX-License-Identifier: Apache-2.0
#
# Files compiled together, since most of what a compiler does for a small file is to read headers. What
# one file calls a thing of its own is then no other's name.

option(DEVLINK_UNITY "Compile the files of each folder of the library as one" OFF)
option(DEVLINK_UNITY_TESTS "Compile the files of each test as one" OFF)

# devlink_unity(<target>)
function(devlink_unity target)
  if(NOT DEVLINK_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes a file's own types for a header's, and warns of names in headers that a file does not have.
    target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "^src/([a-z_]+)/")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# devlink_unity_test(<target>): at most a dozen files at a time, so that several processors have some.
function(devlink_unity_test target)
  if(DEVLINK_UNITY_TESTS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()
