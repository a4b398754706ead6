# SPDX-License-Identifier: Apache-2.0
#
# Debian's liblz4-dev brings no CMake files. Defines LZ4::lz4: the shared library, or the archive
# where LZ4_USE_STATIC_LIBS is on.
find_path(LZ4_INCLUDE_DIR lz4.h)
if(LZ4_USE_STATIC_LIBS)
  find_library(LZ4_LIBRARY NAMES liblz4.a lz4)
else()
  find_library(LZ4_LIBRARY lz4)
endif()
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LZ4 REQUIRED_VARS LZ4_LIBRARY LZ4_INCLUDE_DIR)

if(LZ4_FOUND AND NOT TARGET LZ4::lz4)
  add_library(LZ4::lz4 UNKNOWN IMPORTED)
  set_target_properties(LZ4::lz4 PROPERTIES
    IMPORTED_LOCATION "${LZ4_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LZ4_INCLUDE_DIR}")
endif()
