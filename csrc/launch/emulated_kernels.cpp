// The launch functions that CANN's build generates, for the emulator.
#include <utility>

#include "launch.h"
#include "launch/emulator_backend.h"

namespace {

template <size_t>
struct Address {
    using Type = uint8_t*;
};
template <class Tiling, class Indices>
struct KernelFunction;
template <class Tiling, size_t... I>
struct KernelFunction<Tiling, std::index_sequence<I...>> {
    using Type = void(typename Address<I>::Type..., Tiling);
};
template <class Tiling, size_t pointers>
using Kernel = typename KernelFunction<Tiling, std::make_index_sequence<pointers>>::Type;

template <class Tiling, class Function, size_t... I>
uint32_t emulate(const char* name, Function* kernel, std::index_sequence<I...>, uint32_t blocks,
                 void* stream, void* const* pointers, const Tiling& tiling) {
    return ascend_grad::launch::emulate(
        name, blocks, stream, [&] { kernel(static_cast<uint8_t*>(pointers[I])..., tiling); });
}

}  // namespace

#define NAMED_1 void* p0
#define NAMED_2 NAMED_1, void* p1
#define NAMED_3 NAMED_2, void* p2
#define NAMED_4 NAMED_3, void* p3
#define NAMED_5 NAMED_4, void* p4
#define NAMED_6 NAMED_5, void* p5
#define NAMED_7 NAMED_6, void* p6
#define NAMED_8 NAMED_7, void* p7
#define NAMED_9 NAMED_8, void* p8
#define VALUES_1 p0
#define VALUES_2 VALUES_1, p1
#define VALUES_3 VALUES_2, p2
#define VALUES_4 VALUES_3, p3
#define VALUES_5 VALUES_4, p4
#define VALUES_6 VALUES_5, p5
#define VALUES_7 VALUES_6, p6
#define VALUES_8 VALUES_7, p7
#define VALUES_9 VALUES_8, p8

#define KERNEL(name, Tiling, count)                                                              \
    extern "C" Kernel<Tiling, count> name;                                                       \
    extern "C" __attribute__((visibility("default")))                                            \
    uint32_t aclrtlaunch_##name(uint32_t blocks, void* stream, NAMED_##count, Tiling* tiling) {  \
        void* const pointers[] = {VALUES_##count};                                               \
        return emulate(#name, name, std::make_index_sequence<count>(), blocks, stream, pointers, \
                       *tiling);                                                                 \
    }
#if ASCEND_GRAD_KERNELS_HAVE_BFLOAT16
#define KERNEL_BF16 KERNEL
#else
#define KERNEL_BF16(name, Tiling, count)
#endif
#include "kernels.def"
