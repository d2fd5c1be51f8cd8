# expect(NAME RESULT OPTIONS TEXT...): the project beside the including file, configured in
# FOLDER/NAME with these options, ends with RESULT and says all of these texts. Variables: SOURCE (of
# Syncline), FOLDER (to write into).
function(expect name expected options)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/${name}
      -DSYNCLINE_SOURCE=${SOURCE} ${options}
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT result STREQUAL expected)
    message(SEND_ERROR "${name}: expected result ${expected}, got ${result}: ${said}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " said "${said}") # messages of errors are wrapped
  foreach(text ${ARGN})
    string(FIND "${said}" "${text}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${name}: expected \"${text}\", got: ${said}")
    endif()
  endforeach()
endfunction()
