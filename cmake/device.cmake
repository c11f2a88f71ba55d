# Device libraries: the runner with the kernels of one product family, loaded when a call asks for the device.
include_guard()

file(GLOB ASCEND_GRAD_KERNELS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels_ascendc/*/kernel.cpp)

# ascend_grad_runner(<target> <backend> <acl>...): what a device's libraries of all families share; <acl> have its functions.
function(ascend_grad_runner target backend)
  add_library(${target} OBJECT ${backend}
    csrc/launch/aclnn_interface.cpp
    csrc/launch/c_interface.cpp
    csrc/launch/memory_pool.cpp
    csrc/launch/runner.cpp
    csrc/launch/tensor_memory.cpp)
  target_include_directories(${target} PRIVATE include)
  target_link_libraries(${target} PUBLIC ascend_grad_core ${ARGN})
endfunction()

# ascend_grad_device_library(<target> <arch> <runner> <kernels>...)
function(ascend_grad_device_library target arch runner)
  add_library(${target} SHARED csrc/launch/kernel_table.cpp ${ARGN})
  target_include_directories(${target} PRIVATE kernels_ascendc)
  if(arch EQUAL 220)
    set(has_bfloat16 1)
  else()
    set(has_bfloat16 0)
  endif()
  target_compile_definitions(${target} PRIVATE ASCEND_GRAD_ARCH=${arch} ASCEND_GRAD_KERNELS_HAVE_BFLOAT16=${has_bfloat16})
  target_link_libraries(${target} PRIVATE ${runner})
  target_link_options(${target} PRIVATE LINKER:--exclude-libs=ALL)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${target} LIBRARY DESTINATION ${home}/lib64)
endfunction()

if(ASCEND_GRAD_EMULATOR AND ASCEND_GRAD_PYTHON)
  # Kernels are thin over the emulator's runtime: optimising them costs more than it brings.
  set_source_files_properties(${ASCEND_GRAD_KERNELS} PROPERTIES COMPILE_OPTIONS -O1)
  ascend_grad_runner(ascend_grad_emulator csrc/launch/emulator_backend.cpp ascend_grad ascendc_emulator_runtime)
  foreach(family IN ITEMS ascend910b:220 ascend310p:200 ascend910:100)
    string(REPLACE ":" ";" family ${family})
    list(GET family 1 arch)
    list(GET family 0 family)
    set(target ascend_grad_emulator_${family})
    ascend_grad_device_library(${target} ${arch} ascend_grad_emulator
      csrc/launch/emulated_kernels.cpp ${ASCEND_GRAD_KERNELS})
    target_link_libraries(${target} PRIVATE emulator_${family})
  endforeach()
endif()
