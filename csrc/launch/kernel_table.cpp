#include "launch/kernel_table.h"

#include <cstring>
#include <utility>

#include "launch.h"

namespace ascend_grad::launch {

const int kArch = ASCEND_GRAD_ARCH;

namespace {

// Spreads an array of pointers over the parameters of a launch function.
template <class Tiling, class Function, size_t... I>
uint32_t call(Function* function, std::index_sequence<I...>, uint32_t blocks, void* stream,
              void* const* pointers, const void* tiling) {
    Tiling data;
    std::memcpy(&data, tiling, sizeof(Tiling));
    return function(blocks, stream, pointers[I]..., &data);
}

#if ASCEND_GRAD_KERNELS_HAVE_BFLOAT16
#define KERNEL_BF16 KERNEL
#else
#define KERNEL_BF16(name, Tiling, pointers)
#endif
#define KERNEL(name, Tiling, pointers)                                                        \
    {#name, pointers,                                                                         \
     [](uint32_t blocks, void* stream, void* const* addresses, const void* tiling) {          \
         return call<Tiling>(ACLRT_LAUNCH_KERNEL(name), std::make_index_sequence<pointers>(), \
                             blocks, stream, addresses, tiling);                              \
     }},
constexpr Kernel kKernels[] = {
#include "kernels.def"
};
#undef KERNEL
#undef KERNEL_BF16

}  // namespace

const Kernel* find_kernel(const char* name) {
    for (const Kernel& kernel : kKernels) {
        if (std::strcmp(kernel.name, name) == 0) return &kernel;
    }
    return nullptr;
}

}  // namespace ascend_grad::launch
