# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages of Abseil and zstd describe shared libraries and bring their archives beside
# them. Forty shared libraries cost a program two milliseconds and two megabytes at each start,
# which is more than a small link takes.

# devlink_use_archives(<target>...): these imported shared libraries, and those behind them, are
# taken from their archives where the archives are there.
function(devlink_use_archives)
  set(waiting ${ARGN})
  set(seen)
  while(waiting)
    list(POP_FRONT waiting name)
    if(NOT TARGET "${name}" OR name IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${name}")
    get_target_property(behind "${name}" INTERFACE_LINK_LIBRARIES)
    if(behind)
      list(APPEND waiting ${behind})
    endif()
    get_target_property(configurations "${name}" IMPORTED_CONFIGURATIONS)
    set(properties IMPORTED_LOCATION)
    if(configurations)
      list(TRANSFORM configurations PREPEND IMPORTED_LOCATION_ OUTPUT_VARIABLE more)
      list(APPEND properties ${more})
    endif()
    foreach(property IN LISTS properties)
      get_target_property(shared "${name}" ${property})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${shared}")
      if(shared AND EXISTS "${archive}")
        set_target_properties("${name}" PROPERTIES ${property} "${archive}")
      endif()
    endforeach()
  endwhile()
endfunction()
