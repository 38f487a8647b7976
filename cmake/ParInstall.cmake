# What `cmake --install` copies: tools, the examples, and what a pass outside this source tree is built with (headers,
# archives, find_package(par)). Nothing in it knows the prefix. par-compile finds par-run beside itself.
include(CMakePackageConfigHelpers)
get_property(PAR_TOOLS GLOBAL PROPERTY PAR_TOOLS)
get_property(PAR_LIBRARIES GLOBAL PROPERTY PAR_LIBRARIES)
get_property(PAR_ARCHIVES GLOBAL PROPERTY PAR_ARCHIVES)

install(TARGETS ${PAR_TOOLS} RUNTIME DESTINATION bin)

install(TARGETS ${PAR_LIBRARIES} ParVersion EXPORT ParTargets ARCHIVE DESTINATION lib INCLUDES DESTINATION include)
foreach(archive ${PAR_ARCHIVES})
  install(FILES $<TARGET_FILE:${archive}> DESTINATION lib)
endforeach()
foreach(folder ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/runtime/include ${PROJECT_BINARY_DIR}/include)
  install(DIRECTORY ${folder}/par DESTINATION include FILES_MATCHING
          PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
endforeach()

install(EXPORT ParTargets NAMESPACE par:: DESTINATION lib/cmake/par)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/par-config.cmake.in ${PROJECT_BINARY_DIR}/par-config.cmake
  INSTALL_DESTINATION lib/cmake/par NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change everything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/par-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/par-config.cmake ${PROJECT_BINARY_DIR}/par-config-version.cmake
        ${PROJECT_SOURCE_DIR}/cmake/ParPassPlugin.cmake DESTINATION lib/cmake/par)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION share/par USE_SOURCE_PERMISSIONS
        PATTERN build EXCLUDE PATTERN "__pycache__" EXCLUDE PATTERN "*.par" EXCLUDE)
# Debian has a package `par`, of something else.
set(PAR_PACKAGE par-compiler)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/${PAR_PACKAGE})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/${PAR_PACKAGE} RENAME copyright)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/${PAR_PACKAGE})

# `cpack -G DEB` in the build folder. It depends on what the tools are linked with (cmake/DebianDependencies.cmake) and on
# the linker that par-compile runs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${PAR_PACKAGE})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The par project <par@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "graph compiler that partitions the training of transformers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmlir-19-dev, llvm-19-dev, clang-19, cmake")
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/DebianDependencies.cmake)
set(CPACK_PAR_TOOLS ${PAR_TOOLS})
list(TRANSFORM CPACK_PAR_TOOLS PREPEND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/)
set(CPACK_PAR_READELF ${LLVM_TOOLS_BINARY_DIR}/llvm-readelf)
include(CPack)
