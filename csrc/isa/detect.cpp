#include "isa/detect.h"

#include <strings.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ascend_grad {
namespace {

#if defined(__aarch64__)
constexpr const char* kNames[kIsaCount] = {"neon"};
#else
constexpr const char* kNames[kIsaCount] = {"baseline", "avx2", "avx512"};
#endif

#if defined(__x86_64__)
// Not every supported compiler's __builtin_cpu_supports knows it.
bool has_f16c() {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::string available_names() {
    std::string names;
    for (int i = 0; i < kIsaCount; ++i) {
        if (!isa_is_available(static_cast<Isa>(i))) continue;
        if (!names.empty()) names += ", ";
        names += kNames[i];
    }
    return names;
}

}  // namespace

const char* isa_name(Isa isa) {
    return kNames[static_cast<int>(isa)];
}

bool isa_is_available(Isa isa) {
#if defined(__aarch64__)
    return isa == Isa::kNeon;
#else
    switch (isa) {
        case Isa::kBaseline:
            return true;
        case Isa::kAvx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
        case Isa::kAvx512:
            return isa_is_available(Isa::kAvx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq");
    }
    return false;
#endif
}

Isa select_isa(const char* requested, std::string& error) {
    Isa best = static_cast<Isa>(0);
    for (int i = 0; i < kIsaCount; ++i) {
        if (isa_is_available(static_cast<Isa>(i))) best = static_cast<Isa>(i);
    }
    if (requested == nullptr || requested[0] == '\0') return best;
    for (int i = 0; i < kIsaCount; ++i) {
        if (strcasecmp(kNames[i], requested) == 0 && isa_is_available(static_cast<Isa>(i))) {
            return static_cast<Isa>(i);
        }
    }
    error = std::string("ASCEND_GRAD_ISA: no instruction set level '") + requested +
            "' on this machine; available: " + available_names();
    return best;
}

}  // namespace ascend_grad
