#include "core/processor.h"

#include <unistd.h>

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/cache_line.h"

namespace ascend_grad {
namespace {

enum class Vendor { kOther, kAmd, kIntel };
struct Model {
    Vendor vendor = Vendor::kOther;
    unsigned family = 0;
};

Model model() {
    Model result;
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0) return result;
    if (b == signature_AMD_ebx) result.vendor = Vendor::kAmd;
    if (b == signature_INTEL_ebx) result.vendor = Vendor::kIntel;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) result.family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
#endif
    return result;
}

// Of Intel's processors; 0 where it is not known.
int64_t third_cache_bytes() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
    return sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
    return 0;
#endif
}

Processor processor_of(const Model& model) {
    const bool is_amd = model.vendor == Vendor::kAmd;
    const bool is_zen4 = is_amd && model.family == 0x19;  // or Zen 3, of which the same is assumed
    const bool is_zen5 = is_amd && model.family == 0x1a;
    Processor result{};
    result.along_memory = !is_zen4;
    result.into_second = is_zen4;
    result.next_plane = is_zen4   ? NextPlane::kFromMemory
                        : is_zen5 ? NextPlane::kSmallOrNarrow
                                  : NextPlane::kNone;
    result.far_along_memory = is_zen5;
    result.copies_transposed = is_zen4;
    result.divides_by_row = is_zen4;
    result.reads_next_row = model.vendor == Vendor::kIntel;
    // Elsewhere shorter rows gain nothing; of Intel's, up to a quarter in the second cache.
    result.aligned_bytes = model.vendor == Vendor::kIntel ? 1024 : kLongRun;
    result.cached_bytes = int64_t{14} << 20;
    // About what is moved in the 0.5 us for which lines go to and fro (measured on Zen 4).
    result.written_part_bytes = int64_t{64} << 10;
    result.near_bytes = result.cached_bytes;
    result.streamed_bytes = int64_t{24} << 20;
    result.early_bytes = int64_t{16} << 20;
    // Of Intel's servers other cores and, in a cloud, other machines share the third cache: so much
    // of 300 MiB was seen to keep what one of them stored (Emerald Rapids).
    constexpr int64_t kMostKept = int64_t{64} << 20;
    const int64_t kept = std::min(third_cache_bytes() / 4 * 3, kMostKept);
    const bool keeps = model.vendor == Vendor::kIntel && kept > result.streamed_bytes;
    result.kept_bytes = keeps ? kept : 0;
    result.streams_beside_arithmetic = !keeps;
    if (keeps) {
        // Beyond the second cache, of 2 MiB, a core moves so little that sharing always pays
        // (Emerald Rapids; assumed of the others).
        result.written_part_bytes = int64_t{8} << 10;
        result.near_bytes = int64_t{2} << 20;
    }
    return result;
}

// Not made by a first call, under a lock that a child forked meanwhile would find taken.
Processor g_processor = processor_of(model());

}  // namespace

const Processor& processor() {
    return g_processor;
}

bool comes_from_memory(int64_t bytes) {
    return bytes > g_processor.cached_bytes;
}

void set_processor(const Processor& other) {
    g_processor = other;
}

}  // namespace ascend_grad
