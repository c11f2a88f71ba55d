# The instruction set levels: name, compiler flags. Kernels are compiled once for each; everything else without flags.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(ASCEND_GRAD_ISA_LEVELS baseline avx2 avx512)
  set(ASCEND_GRAD_ISA_FLAGS_baseline "")
  set(ASCEND_GRAD_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
  set(ASCEND_GRAD_ISA_FLAGS_avx512 ${ASCEND_GRAD_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ASCEND_GRAD_ISA_LEVELS baseline)
  set(ASCEND_GRAD_ISA_FLAGS_baseline "")
else()
  message(FATAL_ERROR "ascend-grad supports x86-64 and aarch64, not ${CMAKE_SYSTEM_PROCESSOR}")
endif()

# Sanitizers multiply the code that is to be optimised, so presets with them lower it. In the preset `fuzz` clang's checks
# of pointers, half as long again to compile in here, are left to the preset `sanitize`. With -O3 GCC takes a quarter longer
# for kernels that are no faster; what they need of it beyond -O2 is short loops unrolled, and plain ones made vectors.
set(optimization -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND optimization -fpeel-loops -ftree-vectorize -fvect-cost-model=dynamic)
endif()
set(ASCEND_GRAD_ISA_OPTIMIZATION ${optimization} CACHE STRING "Optimisation of the kernels")

# ascend_grad_add_isa_levels(<target> <source>...): adds one object library per level to the target.
function(ascend_grad_add_isa_levels target)
  foreach(level IN LISTS ASCEND_GRAD_ISA_LEVELS)
    set(objects ${target}_${level})
    add_library(${objects} OBJECT ${ARGN})
    target_link_libraries(${objects} PRIVATE ascend_grad_options)
    target_compile_definitions(${objects} PRIVATE KERNELS=kernels_${level})
    target_compile_options(${objects} PRIVATE
      ${ASCEND_GRAD_ISA_FLAGS_${level}} ${ASCEND_GRAD_ISA_OPTIMIZATION} -fno-lto -fno-exceptions
      # GCC's own AVX-512 header reads variables that it leaves uninitialised on purpose.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
