# par_add_pass_plugin(NAME source...): NAME.so with passes for `par-opt --load-pass-plugin=NAME.so`. What it uses of par is
# par-opt's, and what it uses of MLIR is that of the shared library, so that both know the same ops and types. Linking
# par::ParDialect or a static MLIR library into it would give it a second set of them.
function(par_add_pass_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so BUILD_RPATH ${LLVM_LIBRARY_DIR} INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_include_directories(${name} SYSTEM PRIVATE ${PAR_INCLUDE_DIR} ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_options(${name} PRIVATE ${definitions})
  target_link_libraries(${name} PRIVATE MLIR LLVM)
endfunction()
