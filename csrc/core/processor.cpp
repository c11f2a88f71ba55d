#include "core/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ascend_grad {
namespace {

// Of AMD's processors; 0 of others.
unsigned amd_family() {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx) return 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
    return (a >> 8 & 0xf) + (a >> 20 & 0xff);
#else
    return 0;
#endif
}
Prefetching prefetching_of(unsigned amd_family) {
    constexpr unsigned kZen3And4 = 0x19;  // measured on Zen 4, assumed of Zen 3
    constexpr unsigned kZen5 = 0x1a;
    if (amd_family == kZen3And4) return {false, true, NextPlane::kFromMemory, false};
    if (amd_family == kZen5) return {true, false, NextPlane::kSmallOrNarrow, true};
    return {true, false, NextPlane::kNone, false};
}

// Not made by a first call, under a lock that a child forked meanwhile would find taken.
const Prefetching g_prefetching = prefetching_of(amd_family());

}  // namespace

const Prefetching& prefetching() {
    return g_prefetching;
}

}  // namespace ascend_grad
