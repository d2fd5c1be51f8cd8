# Finds the libraries of the CPU backend. Included at the top level, for the tests' sake.
#
# Reads SYNCLINE_CPU (AUTO, ON, OFF). Sets SYNCLINE_HAS_CPU and, where that is true, the targets
# DNNL::dnnl and OpenMP::OpenMP_CXX, and dnnl_VERSION.
set(SYNCLINE_CPU AUTO CACHE STRING
  "Build the CPU backend: ON, OFF, or AUTO, where oneDNN and OpenMP are found")
set_property(CACHE SYNCLINE_CPU PROPERTY STRINGS AUTO ON OFF)
if(NOT SYNCLINE_CPU MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SYNCLINE_CPU: expected AUTO, ON or OFF, got '${SYNCLINE_CPU}'")
endif()

set(SYNCLINE_HAS_CPU OFF)
set(missing) # in words
if(NOT SYNCLINE_CPU STREQUAL OFF)
  find_package(dnnl QUIET CONFIG)
  if(NOT TARGET DNNL::dnnl)
    list(APPEND missing "no oneDNN")
  endif()
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(NOT TARGET OpenMP::OpenMP_CXX)
    list(APPEND missing "no OpenMP")
  endif()
  if(NOT missing)
    set(SYNCLINE_HAS_CPU ON)
  endif()
endif()

list(JOIN missing ", " missing)
if(SYNCLINE_HAS_CPU)
  message(STATUS "CPU backend: yes, by oneDNN ${dnnl_VERSION}")
elseif(SYNCLINE_CPU STREQUAL ON)
  message(FATAL_ERROR "SYNCLINE_CPU=ON: ${missing}; CMAKE_PREFIX_PATH says where to look")
elseif(missing)
  message(STATUS "CPU backend: no: ${missing}")
else()
  message(STATUS "CPU backend: no: SYNCLINE_CPU=OFF")
endif()
unset(missing)
