#include "core/processor.h"

#include <unistd.h>

#include <algorithm>

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

// Where it is large, as on servers of Intel: what of it other cores and, in a cloud, other machines
// leave one was measured to keep results of this size (docs/performance.md, "Streaming").
int64_t kept_bytes(int64_t streamed_bytes) {
    constexpr int64_t kMost = int64_t{64} << 20;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
    const int64_t cache = 0;
#endif
    const int64_t most = std::min(cache / 4 * 3, kMost);
    return most > streamed_bytes ? most : 0;
}

Processor processor_of(unsigned amd_family) {
    constexpr unsigned kZen3And4 = 0x19;  // measured on Zen 4, assumed of Zen 3
    constexpr unsigned kZen5 = 0x1a;
    Processor result{};
    result.along_memory = amd_family != kZen3And4;
    result.into_second = amd_family == kZen3And4;
    result.next_plane = amd_family == kZen3And4 ? NextPlane::kFromMemory
                        : amd_family == kZen5   ? NextPlane::kSmallOrNarrow
                                                : NextPlane::kNone;
    result.far_along_memory = amd_family == kZen5;
    result.cached_bytes = int64_t{14} << 20;
    result.streamed_bytes = int64_t{24} << 20;
    result.early_bytes = int64_t{16} << 20;
    result.kept_bytes = kept_bytes(result.streamed_bytes);
    result.streams_beside_arithmetic = amd_family != 0;
    return result;
}

// Not made by a first call, under a lock that a child forked meanwhile would find taken.
Processor g_processor = processor_of(amd_family());

}  // namespace

const Processor& processor() {
    return g_processor;
}

void set_processor(const Processor& other) {
    g_processor = other;
}

}  // namespace ascend_grad
