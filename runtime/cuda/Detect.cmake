# Is there what the CUDA backend is built with? Included at the top, so that tests know too.
#
# Reads SYNCLINE_CUDA (AUTO, ON, OFF). Sets SYNCLINE_HAS_CUDA, and where that is true SYNCLINE_NVCC, the targets
# CUDA::cudart and CUDA::cublasLt, and SYNCLINE_CUDA_INCLUDES, SYNCLINE_CUDNN and SYNCLINE_NCCL (headers' folders,
# libraries). SYNCLINE_NVCC alone is set where nvcc is found, whatever SYNCLINE_CUDA says but OFF: generated CUDA compiles
# without cuDNN and NCCL.
set(SYNCLINE_CUDA AUTO CACHE STRING
  "Build the CUDA backend: ON, OFF, or AUTO, where nvcc (12 or later), cuDNN 9 and NCCL are found")
set_property(CACHE SYNCLINE_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT SYNCLINE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SYNCLINE_CUDA: expected AUTO, ON or OFF, got '${SYNCLINE_CUDA}'")
endif()

set(SYNCLINE_HAS_CUDA OFF)
set(missing) # in words
if(NOT SYNCLINE_CUDA STREQUAL OFF)
  find_package(CUDAToolkit 12 QUIET)
  set(SYNCLINE_NVCC ${CUDAToolkit_NVCC_EXECUTABLE})
  if(NOT CUDAToolkit_FOUND OR NOT SYNCLINE_NVCC OR NOT TARGET CUDA::cublasLt)
    list(APPEND missing "the CUDA toolkit, 12 or later, with nvcc and cuBLAS")
  endif()
  find_path(SYNCLINE_CUDNN_INCLUDE cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS}) # since cuDNN 9
  find_library(SYNCLINE_CUDNN cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NOT SYNCLINE_CUDNN_INCLUDE OR NOT SYNCLINE_CUDNN)
    list(APPEND missing "cuDNN 9")
  endif()
  find_path(SYNCLINE_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(SYNCLINE_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NOT SYNCLINE_NCCL_INCLUDE OR NOT SYNCLINE_NCCL)
    list(APPEND missing "NCCL")
  endif()
  if(NOT missing)
    set(SYNCLINE_HAS_CUDA ON)
    set(SYNCLINE_CUDA_INCLUDES
      ${CUDAToolkit_INCLUDE_DIRS} ${SYNCLINE_CUDNN_INCLUDE} ${SYNCLINE_NCCL_INCLUDE})
    list(REMOVE_DUPLICATES SYNCLINE_CUDA_INCLUDES)
  endif()
endif()

list(JOIN missing "; " missing)
if(SYNCLINE_HAS_CUDA)
  message(STATUS "CUDA backend: yes, by ${SYNCLINE_NVCC} ${CUDAToolkit_VERSION}")
elseif(SYNCLINE_CUDA STREQUAL ON)
  message(FATAL_ERROR "SYNCLINE_CUDA=ON, but there is no ${missing}; CUDAToolkit_ROOT says where to look")
elseif(missing)
  message(STATUS "CUDA backend: no, missing: ${missing}")
endif()
unset(missing)
