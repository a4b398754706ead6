# SPDX-License-Identifier: Apache-2.0
#
# What is installed is linked with a map beside it, from which scripts/sbom tells what is in it.

# devlink_product(<target> [HEADERS <name>...]): a program or shared library that is installed.
# HEADERS: libraries that consist of headers alone, which no map shows.
function(devlink_product target)
  cmake_parse_arguments(ARG "" "" "HEADERS" ${ARGN})
  if(APPLE)
    return()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/products")
  file(MAKE_DIRECTORY "${folder}")
  target_link_options(${target} PRIVATE "LINKER:-Map=${folder}/${target}.map")
  string(REPLACE ";" " " headers "${ARG_HEADERS}")
  file(GENERATE OUTPUT "${folder}/${target}.txt"
       CONTENT "file $<TARGET_FILE:${target}>\nmap ${folder}/${target}.map\nheaders ${headers}\n")
endfunction()
