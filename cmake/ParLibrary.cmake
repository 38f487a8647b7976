# par_library(NAME source... [LINK library...]): a static library of the compiler, sharing one precompiled header.
# Libraries depend downwards only; MLIR and LLVM are always the shared objects (naming a static MLIR library beside
# them duplicates type ids).
function(par_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} ParIncGen)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  par_precompile(${name})
endfunction()

# par_tool(NAME source... LINK library...): an executable in build/bin.
function(par_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} ParIncGen)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  # libMLIR is not on the loader's path.
  set_target_properties(${name} PROPERTIES BUILD_RPATH ${LLVM_LIBRARY_DIR} INSTALL_RPATH ${LLVM_LIBRARY_DIR})
endfunction()

function(par_precompile name)
  if(NOT TARGET par-pch)
    file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")
    add_library(par-pch STATIC ${PROJECT_BINARY_DIR}/pch.cpp)
    target_precompile_headers(par-pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)
  endif()
  target_precompile_headers(${name} REUSE_FROM par-pch)
endfunction()
