# par_unit_test(NAMETests source... [LINK library...]): a GoogleTest program of the compiler, beside its folder's
# CMakeLists.txt in the build tree, where lit finds every program named *Tests. PAR_TEST_DIR is the source folder test/.
find_package(GTest REQUIRED)
function(par_unit_test name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "par_unit_test(${name}): the name must end in Tests, else lit does not find it")
  endif()
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  # Objects of a library share the libraries' precompiled header; those of an executable (-fPIE) cannot.
  add_library(${name}Objects OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name}Objects ParIncGen)
  target_link_libraries(${name}Objects PUBLIC ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name}Objects PRIVATE PAR_TEST_DIR="${PROJECT_SOURCE_DIR}/test")
  par_precompile(${name}Objects)
  add_executable(${name})
  target_link_libraries(${name} PRIVATE ${name}Objects MLIR LLVM)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} BUILD_RPATH ${LLVM_LIBRARY_DIR})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
