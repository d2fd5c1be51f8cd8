# Finds the libraries of the CUDA backend. Included at the top level, so that tests know the
# result too.
#
# Reads SYNCLINE_CUDA (AUTO, ON, OFF). Sets SYNCLINE_HAS_CUDA and, where that is true, the targets
# CUDA::cudart and CUDA::cublasLt, SYNCLINE_CUDA_INCLUDES, SYNCLINE_CUDNN and SYNCLINE_NCCL
# (headers' folders, libraries). SYNCLINE_NVCC is the path of a working nvcc, or empty. It is set
# unless SYNCLINE_CUDA is OFF, because generated CUDA compiles without cuDNN.
set(SYNCLINE_CUDA AUTO CACHE STRING
  "Build the CUDA backend: ON, OFF, or AUTO, where an nvcc (12 or later) that compiles, cuDNN 9 and NCCL 2.19 or later are found")
set_property(CACHE SYNCLINE_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT SYNCLINE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SYNCLINE_CUDA: expected AUTO, ON or OFF, got '${SYNCLINE_CUDA}'")
endif()
set(SYNCLINE_CUDA_ARCHITECTURES
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90])

# Sets VARIABLE to the reason why nvcc does not work, or to an empty text. An nvcc refuses newer
# host compilers, and an old nvcc lacks C++20 or the supported devices. The result is cached until
# nvcc or the compiler changes.
function(syncline_try_nvcc nvcc variable)
  set(key "${nvcc} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT "${SYNCLINE_NVCC_TRIED}" STREQUAL "${key}")
    set(trial ${CMAKE_BINARY_DIR}/CMakeFiles/TryNvcc.cu)
    file(WRITE ${trial} "#include <algorithm>\n#include <string>\n__global__ void nothing() {}\n")
    execute_process(
      COMMAND ${nvcc} -std=c++20 ${SYNCLINE_CUDA_ARCHITECTURES} -c ${trial} -o ${trial}.o
      RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    set(why "")
    if(failed)
      string(REGEX MATCH "[^\n]*(error|fatal)[^\n]*" line "${said}")
      set(why "'${nvcc}' does not compile: ${line}")
    endif()
    set(SYNCLINE_NVCC_TRIED "${key}" CACHE INTERNAL "The nvcc and the host compiler that were tried")
    set(SYNCLINE_NVCC_FAILURE "${why}" CACHE INTERNAL "What they said, or nothing")
  endif()
  set(${variable} "${SYNCLINE_NVCC_FAILURE}" PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the version of the header in FOLDER, or to 0 if there is none.
function(syncline_nccl_version folder variable)
  set(version 0)
  if(EXISTS "${folder}/nccl.h")
    file(STRINGS "${folder}/nccl.h" lines REGEX "#define NCCL_M(AJOR|INOR) ")
    if("${lines}" MATCHES "NCCL_MAJOR ([0-9]+).*NCCL_MINOR ([0-9]+)")
      set(version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
    endif()
  endif()
  set(${variable} ${version} PARENT_SCOPE)
endfunction()

set(SYNCLINE_HAS_CUDA OFF)
set(SYNCLINE_NVCC "")
set(missing) # in words
if(NOT SYNCLINE_CUDA STREQUAL OFF)
  find_package(CUDAToolkit 12 QUIET)
  set(failure "")
  if(CUDAToolkit_NVCC_EXECUTABLE)
    syncline_try_nvcc(${CUDAToolkit_NVCC_EXECUTABLE} failure)
    if(NOT failure)
      set(SYNCLINE_NVCC ${CUDAToolkit_NVCC_EXECUTABLE})
    endif()
  endif()
  if(failure)
    list(APPEND missing "${failure}")
  elseif(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE OR NOT TARGET CUDA::cublasLt)
    list(APPEND missing "no CUDA toolkit, 12 or later, with nvcc and cuBLAS")
  endif()
  find_path(SYNCLINE_CUDNN_INCLUDE cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS}) # since cuDNN 9
  find_library(SYNCLINE_CUDNN cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NOT SYNCLINE_CUDNN_INCLUDE OR NOT SYNCLINE_CUDNN)
    list(APPEND missing "no cuDNN 9")
  endif()
  find_path(SYNCLINE_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(SYNCLINE_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  syncline_nccl_version("${SYNCLINE_NCCL_INCLUDE}" nccl)
  if(NOT SYNCLINE_NCCL OR nccl VERSION_LESS 2.19) # has ncclCommRegister
    list(APPEND missing "no NCCL 2.19 or later")
  endif()
  if(NOT missing)
    set(SYNCLINE_HAS_CUDA ON)
    set(SYNCLINE_CUDA_INCLUDES ${CUDAToolkit_INCLUDE_DIRS} ${SYNCLINE_CUDNN_INCLUDE} ${SYNCLINE_NCCL_INCLUDE})
    list(REMOVE_DUPLICATES SYNCLINE_CUDA_INCLUDES)
  endif()
endif()

list(JOIN missing ", " missing)
if(SYNCLINE_HAS_CUDA)
  message(STATUS "CUDA backend: yes, by ${SYNCLINE_NVCC} ${CUDAToolkit_VERSION}, NCCL ${nccl}")
elseif(SYNCLINE_CUDA STREQUAL ON)
  message(FATAL_ERROR "SYNCLINE_CUDA=ON: ${missing}; CUDAToolkit_ROOT says where to look")
elseif(missing)
  message(STATUS "CUDA backend: no: ${missing}")
endif()
unset(missing)
