# libascend_grad.so: CANN's C interface. Exports the functions that the headers declare and nothing else.
find_package(Threads REQUIRED)

file(GLOB ASCEND_GRAD_CAPI_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/csrc/capi/*.cpp)
add_library(ascend_grad SHARED ${ASCEND_GRAD_CAPI_SOURCES})
ascend_grad_compile_by_folder(ascend_grad)
target_include_directories(ascend_grad PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(ascend_grad PRIVATE ascend_grad_core Threads::Threads)
target_compile_definitions(ascend_grad PRIVATE FUNC_VISIBILITY)
target_compile_options(ascend_grad PRIVATE -Wconversion)
target_link_options(ascend_grad PRIVATE
  LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/ascend_grad.map
  LINKER:--exclude-libs=ALL
  # OpenMP's threads end some time after the streams that they worked for: what they run must stay.
  LINKER:-z,nodelete)
set_target_properties(ascend_grad PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/ascend_grad.map)

# One relocatable folder that serves as the package's C part and as what CANN's build scripts expect of a toolkit.
if(DEFINED SKBUILD_PROJECT_NAME)
  set(home ascend_grad)
else()
  set(home .)
endif()
include(CMakePackageConfigHelpers)
set(generated ${CMAKE_CURRENT_BINARY_DIR}/capi)
write_basic_package_version_file(${generated}/ascend_gradConfigVersion.cmake COMPATIBILITY SameMajorVersion)
configure_file(cmake/ascend_grad.pc.in ${generated}/ascend_grad.pc @ONLY)
install(DIRECTORY include/ DESTINATION ${home}/include)
install(TARGETS ascend_grad LIBRARY DESTINATION ${home}/lib64)
# CANN's link names, as linker scripts: a wheel holds no symbolic links.
foreach(name ascendcl nnopbase opapi)
  file(WRITE ${generated}/lib${name}.so "INPUT(libascend_grad.so)\n")
  install(FILES ${generated}/lib${name}.so DESTINATION ${home}/lib64)
endforeach()
install(FILES cmake/ascend_gradConfig.cmake ${generated}/ascend_gradConfigVersion.cmake
  DESTINATION ${home}/lib/cmake/ascend_grad)
install(FILES ${generated}/ascend_grad.pc DESTINATION ${home}/lib/pkgconfig)
install(FILES cmake/set_env.sh DESTINATION ${home})

if(ASCEND_GRAD_TESTS)
  enable_testing()
  add_subdirectory(tests/capi)
endif()
option(ASCEND_GRAD_FUZZ "Build the fuzz target" OFF)
if(ASCEND_GRAD_FUZZ)
  add_subdirectory(fuzz)
endif()
