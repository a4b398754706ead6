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

# devlink_order_functions(<target>): what links run lies together in a program or shared library
# (function_order.ld says why). A linker that cannot do it leaves everything where it was.
set(function_order "${PROJECT_SOURCE_DIR}/cmake/function_order.ld")
function(devlink_order_functions target)
  if(DEVLINK_ORDERS_FUNCTIONS)
    target_link_options(${target} PRIVATE "LINKER:-T,${function_order}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${function_order}")
  endif()
endfunction()
if(NOT APPLE AND NOT DEVLINK_SANITIZE)
  set(CMAKE_REQUIRED_LINK_OPTIONS "LINKER:-T,${function_order}")
  if(CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceCompiles)
    check_cxx_source_compiles("int main() {}" DEVLINK_ORDERS_FUNCTIONS)
  else()
    include(CheckCXXSourceRuns)
    check_cxx_source_runs("int main() {}" DEVLINK_ORDERS_FUNCTIONS)
  endif()
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()

# devlink_abseil_members(<target>): a shared library with Debian 12's Abseil within gets by itself what
# it needs of three members of those archives, which no shared object can take.
function(devlink_abseil_members target)
  if(DEVLINK_STATIC_DEPENDENCIES AND absl_VERSION VERSION_EQUAL 20220623)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/libdevlink/c/abseil_members.cc")
  endif()
endfunction()

# devlink_install_output(<place> <component> <command>...): what a command prints is installed. It is
# written where it goes: several installations of one build may run at once.
function(devlink_install_output place component)
  set(words "")
  foreach(word IN LISTS ARGN)
    string(APPEND words " \"${word}\"")
  endforeach()
  install(CODE "
    set(place \"${place}\")
    cmake_path(ABSOLUTE_PATH place BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    cmake_path(GET place PARENT_PATH folder)
    message(STATUS \"Writing: \$ENV{DESTDIR}\${place}\")
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${folder}\")
    execute_process(COMMAND${words} OUTPUT_FILE \"\$ENV{DESTDIR}\${place}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${place}\")" COMPONENT ${component})
endfunction()
