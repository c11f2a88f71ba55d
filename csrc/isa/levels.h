// What every instruction set level has, each in a namespace of its own. Sources that define it are
// compiled once per level (cmake/isa.cmake), with KERNELS naming the namespace.
#pragma once

#define OF_EACH_LEVEL(declaration) \
    namespace kernels_baseline {   \
    declaration;                   \
    }                              \
    namespace kernels_avx2 {       \
    declaration;                   \
    }                              \
    namespace kernels_avx512 {     \
    declaration;                   \
    }

// What Kernel<T>::kernels() is for each dtype T, by kernel_index().
#define OF_EACH_DTYPE(Kernel) \
    { Kernel<float>::kernels(), Kernel<Float16>::kernels(), Kernel<BFloat16>::kernels() }

// `name` of the level in use (isa/environment.h).
#if defined(__aarch64__)
#define OF_LEVEL_IN_USE(name) kernels_baseline::name
#else
#define OF_LEVEL_IN_USE(name)                                 \
    (environment().isa == Isa::kAvx512 ? kernels_avx512::name \
     : environment().isa == Isa::kAvx2 ? kernels_avx2::name   \
                                       : kernels_baseline::name)
#endif
