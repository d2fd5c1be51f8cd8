# syncline_cuda_objects(VARIABLE SOURCE...): compiles device code with nvcc and puts the objects'
# names into VARIABLE. Commands of our own rather than CMake's CUDA language, which would hand
# nvcc the host compiler's flags, and stop where it does not compile.
set(SYNCLINE_NVCC_COMMAND ${SYNCLINE_NVCC})
if(SYNCLINE_CCACHE)
  list(PREPEND SYNCLINE_NVCC_COMMAND ${SYNCLINE_CCACHE})
endif()
# Warnings stop those who work on Syncline, not those who build it with a compiler that has more.
# One list of the host compiler's flags: ccache loses several.
set(SYNCLINE_NVCC_WARNINGS)
set(SYNCLINE_NVCC_HOST -fPIC,-Wall,-Wextra)
if(SYNCLINE_STRICT)
  set(SYNCLINE_NVCC_WARNINGS --Werror all-warnings)
  string(APPEND SYNCLINE_NVCC_HOST ,-Werror)
endif()

function(syncline_cuda_objects variable)
  set(objects)
  foreach(source ${ARGN})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    # Products are not fused with sums: results are the same as the CPU backend's loops give.
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${SYNCLINE_NVCC_COMMAND} -std=c++20 -O3 -fmad=false
        --expt-relaxed-constexpr ${SYNCLINE_NVCC_WARNINGS}
        -Xcompiler ${SYNCLINE_NVCC_HOST},-fvisibility=hidden ${SYNCLINE_CUDA_ARCHITECTURES}
        -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include
        -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      DEPFILE ${object}.d
      COMMENT "Building device code ${source}.o"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
