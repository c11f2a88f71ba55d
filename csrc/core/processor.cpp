#include "core/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ascend_grad {
namespace {

// AMD's processors; measured on Zen 4, assumed of Zen 3.
bool is_zen_3_or_4() {
#if defined(__x86_64__)
    constexpr unsigned kFamily = 0x19;
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx) return false;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    return (a >> 8 & 0xf) + (a >> 20 & 0xff) == kFamily;
#else
    return false;
#endif
}

// Not made by a first call, under a lock that a child forked meanwhile would find taken.
const Prefetching g_prefetching =
    is_zen_3_or_4() ? Prefetching{false, true, true} : Prefetching{true, false, false};

}  // namespace

const Prefetching& prefetching() {
    return g_prefetching;
}

}  // namespace ascend_grad
