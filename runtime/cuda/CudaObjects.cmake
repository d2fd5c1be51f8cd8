# syncline_cuda_objects(VARIABLE SOURCE...): compiles device code with nvcc and puts the objects'
# names into VARIABLE. Commands of our own rather than CMake's CUDA language, which would try the
# compiler in every configuration, and hand it the host compiler's flags.
set(SYNCLINE_CUDA_ARCHITECTURES
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90])

function(syncline_cuda_objects variable)
  set(objects)
  foreach(source ${ARGN})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    # Products are not fused with sums: results are the same as the CPU backend's loops give.
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${SYNCLINE_CCACHE} ${SYNCLINE_NVCC} -std=c++20 -O3 -fmad=false
        --expt-relaxed-constexpr --Werror all-warnings
        -Xcompiler -fPIC,-Wall,-Wextra,-Werror,-fvisibility=hidden ${SYNCLINE_CUDA_ARCHITECTURES}
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
