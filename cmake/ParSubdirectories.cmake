# par_add_subdirectories(): adds every folder below the current one that has a CMakeLists.txt, by name.
macro(par_add_subdirectories)
  file(GLOB _lists RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(_list ${_lists})
    get_filename_component(_folder ${_list} DIRECTORY)
    add_subdirectory(${_folder})
  endforeach()
endmacro()
