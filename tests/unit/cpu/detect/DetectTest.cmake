# What a configuration says and sets where oneDNN or OpenMP is missing. Variables: SOURCE (of
# Syncline), FOLDER (to write into).
include(${CMAKE_CURRENT_LIST_DIR}/../../ExpectConfiguration.cmake)
file(REMOVE_RECURSE ${FOLDER})
# What the CPU backend is built with, where none of it is installed: empty targets.
file(WRITE ${FOLDER}/installed/dnnl-config.cmake
  "add_library(DNNL::dnnl INTERFACE IMPORTED)\nset(dnnl_VERSION 9.8.7)\n")
file(WRITE ${FOLDER}/installed/FindOpenMP.cmake "add_library(OpenMP::OpenMP_CXX INTERFACE IMPORTED)\n")
set(found -Ddnnl_DIR=${FOLDER}/installed -DCMAKE_MODULE_PATH=${FOLDER}/installed)

set(gone -DCMAKE_DISABLE_FIND_PACKAGE_)

expect(all 0 "${found}" "CPU backend: yes, by oneDNN 9.8.7" "backend ON")
expect(compute 0 "${found};${gone}dnnl=ON" "CPU backend: no: no oneDNN" "backend OFF")
expect(threads 0 "${found};${gone}OpenMP=ON" "CPU backend: no: no OpenMP" "backend OFF")
expect(both 0 "${found};${gone}OpenMP=ON;${gone}dnnl=ON" "CPU backend: no: no oneDNN, no OpenMP"
  "backend OFF")
expect(wanted 1 "${found};${gone}OpenMP=ON;-DSYNCLINE_CPU=ON" "SYNCLINE_CPU=ON: no OpenMP")
expect(off 0 "${found};-DSYNCLINE_CPU=OFF" "CPU backend: no: SYNCLINE_CPU=OFF" "backend OFF")
expect(wrong 1 "${found};-DSYNCLINE_CPU=maybe" "expected AUTO, ON or OFF, got 'maybe'")
