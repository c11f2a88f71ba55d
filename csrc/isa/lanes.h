// Sixteen float lanes, the same on every instruction set: 1 register of AVX-512, 2 of AVX, 4 of
// SSE2 or NEON. Arithmetic is plain IEEE float (built with -ffp-contract=off), the sum over lanes
// is a fixed tree: equal results to the bit everywhere. Included only by files that are compiled
// once per level; everything has internal linkage so that the linker can never mix levels.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/float16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ascend_grad {
namespace {

#define AG_INLINE inline __attribute__((always_inline))
// The same for a lambda, behind its parameters.
#define AG_INLINE_LAMBDA __attribute__((always_inline))
#define AG_NOINLINE __attribute__((noinline))
// Whether code has to be small: on x86-64 below AVX2, which few processors need. On aarch64 the
// baseline is all there is. There what parts of a vector take, and much else that is long or rare,
// is called, which elsewhere is in line.
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr bool kIsCompact = true;
#define AG_INLINE_UNLESS_COMPACT inline AG_NOINLINE
#define AG_INLINE_LAMBDA_UNLESS_COMPACT AG_NOINLINE
#else
constexpr bool kIsCompact = false;
#define AG_INLINE_UNLESS_COMPACT AG_INLINE
#define AG_INLINE_LAMBDA_UNLESS_COMPACT AG_INLINE_LAMBDA
#endif

#if defined(__AVX512F__)
constexpr int kRegisterLanes = 16;
#elif defined(__AVX2__)
constexpr int kRegisterLanes = 8;
#else
constexpr int kRegisterLanes = 4;
#endif
constexpr int kLanes = 16;
constexpr int kRegisters = kLanes / kRegisterLanes;

typedef float Register __attribute__((vector_size(4 * kRegisterLanes)));
typedef uint32_t RegisterBits __attribute__((vector_size(4 * kRegisterLanes)));
typedef float Quad __attribute__((vector_size(16)));

struct Lanes {
    Register r[kRegisters];
};

// For each i below a constant, at most 16, without a loop: what a loop indexes stays in memory.
#define AG_EACH(i, n) _Pragma("GCC unroll 16") for (int i = 0; i < (n); ++i)

// Calls function with the numbers below kCount, as types: arrays that nothing else indexes stay in
// registers also from turn to turn of a loop around, where those of AG_EACH do not (GCC 12).
template <int kCount, class Function>
AG_INLINE void each_number(const Function& function) {
    if constexpr (kCount > 0) {
        each_number<kCount - 1>(function);
        function(std::integral_constant<int, kCount - 1>{});
    }
}

// Lanes whose registers are function(0), function(1), ... Of lanes that are carried from turn to
// turn of a loop, compilers keep what a plain loop has indexed in memory, in pieces (GCC 12, AVX2:
// three times the time).
template <class Function>
AG_INLINE Lanes each_register(const Function& function) {
    if constexpr (kRegisters == 1) {
        return {{function(0)}};
    } else if constexpr (kRegisters == 2) {
        return {{function(0), function(1)}};
    } else {
        return {{function(0), function(1), function(2), function(3)}};
    }
}

AG_INLINE Lanes splat(float value) {
    return each_register([&](int) { return value - Register{}; });
}
AG_INLINE Lanes operator+(Lanes a, Lanes b) {
    return each_register([&](int i) { return a.r[i] + b.r[i]; });
}
AG_INLINE Lanes operator-(Lanes a, Lanes b) {
    return each_register([&](int i) { return a.r[i] - b.r[i]; });
}
AG_INLINE Lanes operator*(Lanes a, Lanes b) {
    return each_register([&](int i) { return a.r[i] * b.r[i]; });
}
AG_INLINE Lanes operator/(Lanes a, Lanes b) {
    return each_register([&](int i) { return a.r[i] / b.r[i]; });
}
// x > 0 ? positive : other, lane by lane; NaN takes `other`.
AG_INLINE Lanes select_positive(Lanes x, Lanes positive, Lanes other) {
    return each_register([&](int i) { return x.r[i] > Register{} ? positive.r[i] : other.r[i]; });
}
// Whether a lane of a or b is a NaN. One branch on this is cheaper than a select per register.
AG_INLINE bool has_nan(Lanes a, Lanes b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a.r[0], (__m512)b.r[0], _CMP_UNORD_Q) != 0;
#elif defined(__AVX2__)
    const __m256 first = _mm256_cmp_ps((__m256)a.r[0], (__m256)b.r[0], _CMP_UNORD_Q);
    const __m256 second = _mm256_cmp_ps((__m256)a.r[1], (__m256)b.r[1], _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(first, second)) != 0;
#elif defined(__x86_64__)
    __m128 any = _mm_cmpunord_ps(a.r[0], b.r[0]);
    AG_EACH (i, kRegisters - 1) any = _mm_or_ps(any, _mm_cmpunord_ps(a.r[i + 1], b.r[i + 1]));
    return _mm_movemask_ps(any) != 0;
#else
    RegisterBits ordered = ~RegisterBits{};
    AG_EACH (i, kRegisters) {
        ordered &= (RegisterBits)(a.r[i] == a.r[i]) & (RegisterBits)(b.r[i] == b.r[i]);
    }
    return vminvq_u32(ordered) == 0;
#endif
}
AG_INLINE bool has_nan(Lanes x) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_movemask_ps(_mm256_cmp_ps((__m256)x.r[0], (__m256)x.r[1], _CMP_UNORD_Q)) != 0;
#else
    return has_nan(x, x);
#endif
}
AG_INLINE Lanes replace_nan(Lanes x) {
    const RegisterBits nan = kCanonicalNan - RegisterBits{};
    return each_register([&](int i) { return x.r[i] == x.r[i] ? x.r[i] : (Register)nan; });
}
AG_INLINE Lanes canonical(Lanes x) {
#if defined(__AVX512F__)
    return replace_nan(x);  // a masked move: no dearer than the branch
#else
    if (__builtin_expect(has_nan(x), 0)) x = replace_nan(x);
    return x;
#endif
}

// ((l0 + l8) + (l4 + l12)) + ...: lanes i and i + 8, then i + 4, i + 2, i + 1.
AG_INLINE float tree_sum(Lanes x) {
    Quad quads[4];
    std::memcpy(quads, &x, sizeof(quads));
    const Quad eight_apart[2] = {quads[0] + quads[2], quads[1] + quads[3]};
    const Quad q = eight_apart[0] + eight_apart[1];
    return (q[0] + q[2]) + (q[1] + q[3]);
}

// Whole lanes, of any alignment.
AG_INLINE Lanes load(const float* p) {
    return each_register([&](int i) {
        Register r;
        std::memcpy(&r, p + i * kRegisterLanes, sizeof(r));
        return r;
    });
}
AG_INLINE void store_raw(float* p, Lanes x) {
    AG_EACH (i, kRegisters) std::memcpy(p + i * kRegisterLanes, &x.r[i], sizeof(Register));
}
AG_INLINE void store(float* p, Lanes x) {
    store_raw(p, canonical(x));
}

constexpr uint32_t kLaneMask[2 * kLanes] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                            ~0u, ~0u, ~0u, ~0u, ~0u, 0,   0,   0,   0,   0,   0,
                                            0,   0,   0,   0,   0,   0,   0,   0,   0,   0};

// Of every lane the bits that are set in its mask.
AG_INLINE Lanes keep(Lanes x, const uint32_t* masks) {
    return each_register([&](int i) {
        RegisterBits bits;
        std::memcpy(&bits, masks + i * kRegisterLanes, sizeof(bits));
        return (Register)((RegisterBits)x.r[i] & bits);
    });
}
// Zeroes lanes n and above.
AG_INLINE Lanes keep_first(Lanes x, int n) {
    return keep(x, kLaneMask + kLanes - n);
}

// Lanes below n of `first`, the others of `rest`.
AG_INLINE Lanes join_lanes(Lanes first, Lanes rest, int n) {
    return each_register([&](int i) {
        RegisterBits mask;
        std::memcpy(&mask, kLaneMask + kLanes - n + i * kRegisterLanes, sizeof(mask));
        return (Register)(((RegisterBits)first.r[i] & mask) | ((RegisterBits)rest.r[i] & ~mask));
    });
}

// Calls function(flag) with the flag as a std::bool_constant, for loops that have a form that does
// something and one that does not; where that is not worth its code, as a bool.
template <bool kIsWorthIt = true, class Function>
AG_INLINE auto with_constant(bool flag, const Function& function) {
    if constexpr (!kIsWorthIt || kIsCompact) {
        return function(flag);
    } else if (flag) {
        return function(std::true_type{});
    } else {
        return function(std::false_type{});
    }
}

AG_INLINE int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
AG_INLINE int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

}  // namespace
}  // namespace ascend_grad
