# find_package(ascend_grad): the target ascend_grad::aclnn, CANN's C interface on the CPU.
get_filename_component(ascend_grad_CANN_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET ascend_grad::aclnn)
  add_library(ascend_grad::aclnn SHARED IMPORTED)
  set_target_properties(ascend_grad::aclnn PROPERTIES
    IMPORTED_LOCATION "${ascend_grad_CANN_HOME}/lib64/libascend_grad.so"
    IMPORTED_SONAME libascend_grad.so
    INTERFACE_INCLUDE_DIRECTORIES "${ascend_grad_CANN_HOME}/include")
endif()
