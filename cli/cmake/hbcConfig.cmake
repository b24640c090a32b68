# hbc_add_kernel(NAME KERNEL file.hb [TARGET t] [SCHEDULE s] [FALLBACK error|scalar] [HPP]
#                [SET NAME=VALUE ...])
#
# Adds the static library NAME, made by hbc of a kernel: target_link_libraries(YOURS NAME) links it, with
# its header and what it needs (libm, OpenMP). The kernel is compiled when the project is configured, and
# again when the file changes. HPP: with NAME.hpp, for C++20. Found by
#
#   find_package(hbc REQUIRED)      with -Dhbc_DIR="$(hbc --cmake-dir)"
#
# NAME is the name of the kernel, which is that of its file. HBC_EXECUTABLE names another hbc than that of PATH.

find_program(HBC_EXECUTABLE hbc DOC "the hbc compiler")
if(NOT HBC_EXECUTABLE)
  set(hbc_FOUND FALSE)
  set(hbc_NOT_FOUND_MESSAGE "the command hbc is not in PATH: pip install hbc, or set HBC_EXECUTABLE")
  return()
endif()

function(hbc_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HPP" "KERNEL;TARGET;SCHEDULE;FALLBACK" "SET")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hbc_add_kernel(${name}): what is `${arg_UNPARSED_ARGUMENTS}`?")
  endif()
  if(NOT arg_KERNEL)
    message(FATAL_ERROR "hbc_add_kernel(${name}): KERNEL names the .hb file")
  endif()
  get_filename_component(kernel "${arg_KERNEL}" ABSOLUTE)
  get_filename_component(stem "${kernel}" NAME_WE)
  if(NOT stem STREQUAL name)
    message(FATAL_ERROR "hbc_add_kernel(${name}): the kernel of ${arg_KERNEL} is named ${stem}, after its file")
  endif()
  set(options)
  foreach(option TARGET SCHEDULE FALLBACK)
    if(arg_${option})
      string(TOLOWER "--${option}" flag)
      list(APPEND options "${flag}" "${arg_${option}}")
    endif()
  endforeach()
  foreach(setting IN LISTS arg_SET)
    list(APPEND options --set "${setting}")
  endforeach()
  if(arg_HPP)
    list(APPEND options --emit hpp)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/hbc/${name}")
  execute_process(
    COMMAND "${HBC_EXECUTABLE}" compile "${kernel}" --emit cmake -o "${folder}" ${options}
    RESULT_VARIABLE result
    ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "hbc_add_kernel(${name}):\n${said}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${kernel}")
  add_subdirectory("${folder}" "${folder}/build")
endfunction()
