# find_package(ascendc_emulator): ascend_grad::emulator_<product>, AscendC kernels on the CPU.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/ascendc_emulatorTargets.cmake)
