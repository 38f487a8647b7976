# par_library(NAME source... [LINK library...]): a static library of the compiler, sharing one precompiled header.
# Libraries depend downwards only; MLIR and LLVM are always the shared objects (naming a static MLIR library beside
# them duplicates type ids).
function(par_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} ParIncGen)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  par_precompile(${name})
  set_property(GLOBAL APPEND PROPERTY PAR_LIBRARIES ${name})
endfunction()

# par_link_archive(NAME ARCHIVE...): the library NAME of the compiler uses archives of the runtime. They are linked as
# files, beside it where both are installed: their targets would bring the runtime's compiler flags along.
function(par_link_archive name)
  foreach(archive ${ARGN})
    target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:$<TARGET_FILE:${archive}>>
                          $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/lib/lib${archive}.a>)
    add_dependencies(${name} ${archive})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PAR_ARCHIVES ${ARGN})
endfunction()

# par_tool(NAME source... LINK library...): an executable in build/bin.
function(par_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} ParIncGen)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  # libMLIR is not on the loader's path.
  set_target_properties(${name} PROPERTIES BUILD_RPATH ${LLVM_LIBRARY_DIR} INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  set_property(GLOBAL APPEND PROPERTY PAR_TOOLS ${name})
endfunction()

# par_takes_plugins(TOOL): exports what plugins use (docs/Plugins.md).
function(par_takes_plugins name)
  par_export_symbols(${name} ParDialect ParRankDialect ParRankAnalysis ParSharding ParSource ParPlan ParSchedule ParSupport)
endfunction()

# par_export_symbols(TOOL LIBRARY...): what the tool loads finds all symbols of these libraries in it, so that op classes,
# interfaces and their ids are there once. They have to be whole: the linker takes only what the tool itself uses.
function(par_export_symbols name)
  set(archives ${ARGN})
  list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  target_link_options(${name} PRIVATE -Wl,--whole-archive ${archives} -Wl,--no-whole-archive)
  add_dependencies(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${archives})
endfunction()

function(par_precompile name)
  if(NOT TARGET par-pch)
    file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")
    add_library(par-pch STATIC ${PROJECT_BINARY_DIR}/pch.cpp)
    target_precompile_headers(par-pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)
    add_dependencies(par-pch ParIncGen)
  endif()
  target_precompile_headers(${name} REUSE_FROM par-pch)
endfunction()
