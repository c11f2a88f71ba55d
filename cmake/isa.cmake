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
# of pointers, half as long again to compile in here, are left to the preset `sanitize`.
set(ASCEND_GRAD_ISA_OPTIMIZATION -O3 CACHE STRING
  "Optimisation of the kernels of each level, but -O3 is -O2 for x86-64 below AVX2")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND ASCEND_GRAD_ISA_OPTIMIZATION STREQUAL "-O3")
  # Few processors need it, and it was the longest step of a build.
  set(ASCEND_GRAD_ISA_OPTIMIZATION_baseline -O2 $<$<CXX_COMPILER_ID:GNU>:-fpeel-loops>)
endif()

# ascend_grad_add_isa_levels(<target> <source>...): adds one object library per level to the target.
function(ascend_grad_add_isa_levels target)
  foreach(level IN LISTS ASCEND_GRAD_ISA_LEVELS)
    set(objects ${target}_${level})
    set(optimization ${ASCEND_GRAD_ISA_OPTIMIZATION})
    if(DEFINED ASCEND_GRAD_ISA_OPTIMIZATION_${level})
      set(optimization ${ASCEND_GRAD_ISA_OPTIMIZATION_${level}})
    endif()
    add_library(${objects} OBJECT ${ARGN})
    target_link_libraries(${objects} PRIVATE ascend_grad_options)
    target_compile_definitions(${objects} PRIVATE KERNELS=kernels_${level})
    target_compile_options(${objects} PRIVATE ${ASCEND_GRAD_ISA_FLAGS_${level}} ${optimization} -fno-lto -fno-exceptions
      # GCC's own AVX-512 header reads variables that it leaves uninitialised on purpose.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
