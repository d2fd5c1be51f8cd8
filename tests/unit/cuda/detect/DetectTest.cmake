# What a configuration says and sets where nvcc is missing or does not compile. Variables: SOURCE (of
# Syncline), FOLDER (to write into).
include(${CMAKE_CURRENT_LIST_DIR}/../../ExpectConfiguration.cmake)
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/bin/nvcc "#!/bin/sh\necho 'config.h:1: error: unsupported version' >&2\nexit 1\n")
file(CHMOD ${FOLDER}/bin/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

set(none -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
expect(failing 0 "${none};-DCUDAToolkit_NVCC_EXECUTABLE=${FOLDER}/bin/nvcc"
  "CUDA backend: no: '${FOLDER}/bin/nvcc' does not compile: config.h:1: error: unsupported version"
  "nvcc '', backend OFF")
expect(missing 0 "${none};-DCUDAToolkit_NVCC_EXECUTABLE=NVCC-NOTFOUND"
  "CUDA backend: no: no CUDA toolkit, 12 or later, with nvcc and cuBLAS" "nvcc '', backend OFF")
expect(wanted 1 "${none};-DSYNCLINE_CUDA=ON" "SYNCLINE_CUDA=ON: no CUDA toolkit")
expect(off 0 "-DSYNCLINE_CUDA=OFF;-DSYNCLINE_CCACHE=SYNCLINE_CCACHE-NOTFOUND"
  "nvcc '', backend OFF" "device code by '/toolkit/nvcc'")
expect(cached 0 "-DSYNCLINE_CUDA=OFF;-DSYNCLINE_CCACHE=/bin/ccache"
  "device code by '/bin/ccache /toolkit/nvcc'")

# NCCL by the version that its header says.
set(others "${none};-DCUDAToolkit_NVCC_EXECUTABLE=NVCC-NOTFOUND;-DSYNCLINE_CUDNN=/cudnn;-DSYNCLINE_CUDNN_INCLUDE=/cudnn")
foreach(minor 18 19)
  file(WRITE ${FOLDER}/nccl2.${minor}/nccl.h
    "#define NCCL_MAJOR 2\n#define NCCL_MINOR ${minor}\n#define NCCL_PATCH 3\n")
endforeach()
expect(old-nccl 0 "${others};-DSYNCLINE_NCCL=/nccl;-DSYNCLINE_NCCL_INCLUDE=${FOLDER}/nccl2.18"
  "with nvcc and cuBLAS, no NCCL 2.19 or later -- nvcc ''")
expect(new-nccl 0 "${others};-DSYNCLINE_NCCL=/nccl;-DSYNCLINE_NCCL_INCLUDE=${FOLDER}/nccl2.19"
  "with nvcc and cuBLAS -- nvcc ''")
expect(no-nccl 0 "${others};-DSYNCLINE_NCCL=/nccl;-DSYNCLINE_NCCL_INCLUDE=${FOLDER}"
  "with nvcc and cuBLAS, no NCCL 2.19 or later -- nvcc ''")
