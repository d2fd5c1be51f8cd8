# syncline_cuda_objects(VARIABLE SOURCE...) compiles device code with nvcc and stores the objects'
# names in VARIABLE. It uses custom commands instead of CMake's CUDA language, which would pass the
# host compiler's flags to nvcc and stop where nvcc does not work.
set(SYNCLINE_NVCC_COMMAND ${SYNCLINE_NVCC})
if(SYNCLINE_CCACHE)
  list(PREPEND SYNCLINE_NVCC_COMMAND ${SYNCLINE_CCACHE})
endif()
# Warnings are errors for developers of Syncline, but not for users whose compiler has more
# warnings. The host compiler's flags are one list, because ccache loses several lists.
set(SYNCLINE_NVCC_WARNINGS)
set(SYNCLINE_NVCC_HOST -fPIC,-Wall,-Wextra)
if(SYNCLINE_STRICT)
  set(SYNCLINE_NVCC_WARNINGS --Werror all-warnings)
  string(APPEND SYNCLINE_NVCC_HOST ,-Werror)
endif()

function(syncline_cuda_objects variable)
  set(objects)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    # Products are not fused with sums, so that results equal those of the CPU backend's loops.
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
