// Cast: element conversion in every rounding mode.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

using AscendC::RoundMode;

double round_magnitude(double x, RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR:
            return std::floor(x);
        case RoundMode::CAST_CEIL:
            return std::ceil(x);
        case RoundMode::CAST_TRUNC:
            return std::trunc(x);
        case RoundMode::CAST_ROUND:
            return std::round(x);  // ties away from zero
        case RoundMode::CAST_ODD: {
            const double t = std::trunc(x);
            if (t == x) return x;
            return std::fmod(t, 2.0) != 0 ? t : t + std::copysign(1.0, x);
        }
        default: {
            const double f = std::floor(x), d = x - f;
            if (d != 0.5) return d < 0.5 ? f : f + 1;
            return std::fmod(f, 2.0) == 0 ? f : f + 1;
        }
    }
}

// Rounds to an integral value; a zero keeps the sign of x.
double round_integral(double x, RoundMode mode) {
    return std::copysign(round_magnitude(x, mode), x);
}

// Rounds to a binary format with `mantissa` explicit bits, smallest exponent and largest value
// given.
double round_to_format(double x, RoundMode mode, int mantissa, int min_exponent, double largest) {
    if (!std::isfinite(x) || x == 0) return x;
    int exponent;
    std::frexp(x, &exponent);
    const int unit = std::max(exponent - 1, min_exponent) - mantissa;
    const double rounded = std::ldexp(round_integral(std::ldexp(x, -unit), mode), unit);
    if (std::fabs(rounded) <= largest) return std::signbit(x) ? -std::fabs(rounded) : rounded;
    // Beyond the range: modes that round towards zero on this side stop at the largest value.
    const bool towards_zero = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD ||
                              (mode == RoundMode::CAST_FLOOR && x > 0) ||
                              (mode == RoundMode::CAST_CEIL && x < 0);
    return std::copysign(towards_zero ? largest : std::numeric_limits<double>::infinity(), x);
}

template <typename D>
D saturate(double x) {
    if (std::isnan(x)) return 0;
    constexpr double kLow = static_cast<double>(std::numeric_limits<D>::lowest());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<D>::max());
    if (x <= kLow) return std::numeric_limits<D>::lowest();
    if (x >= kHigh) return std::numeric_limits<D>::max();
    return static_cast<D>(x);
}

template <typename D>
D convert(double x, RoundMode mode) {
    if constexpr (std::is_same_v<D, float>) {
        return static_cast<float>(x);
    } else if constexpr (std::is_same_v<D, half>) {
        if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT)
            if (static_cast<double>(static_cast<float>(x)) == x) return half(static_cast<float>(x));
        return half(static_cast<float>(round_to_format(x, mode, 10, -14, 65504.0)));
    } else if constexpr (std::is_same_v<D, bfloat16_t>) {
        if (mode == RoundMode::CAST_RINT) return bfloat16_t(static_cast<float>(x));
        return bfloat16_t(
            static_cast<float>(round_to_format(x, mode, 7, -126, std::ldexp(255.0, 120))));
    } else {
        return saturate<D>(round_integral(x, mode));
    }
}

struct Conversion {
    RoundMode mode;
    float scale;
};
using ConvertFunction = void (*)(void*, const void*, uint32_t, const Conversion&);

template <typename D, typename S>
void run(void* dst, const void* src, uint32_t n, const Conversion& how) {
    auto* d = static_cast<D*>(dst);
    const auto* s = static_cast<const S*>(src);
    for (uint32_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<D, S>) {  // float -> float rounds to an integral value
            d[i] = std::isfinite(s[i]) ? static_cast<D>(round_integral(s[i], how.mode)) : s[i];
        } else if constexpr (std::is_same_v<D, float> && (sizeof(S) == 2)) {
            d[i] = static_cast<float>(s[i]);
        } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
            d[i] = half(static_cast<float>(s[i]) * how.scale);
        } else if constexpr (std::is_same_v<D, float> && std::is_integral_v<S>) {
            d[i] = static_cast<float>(round_to_format(static_cast<double>(s[i]), how.mode, 23, -126,
                                                      std::numeric_limits<float>::max()));
        } else if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
            const auto wide = static_cast<int64_t>(s[i]);
            const auto low = static_cast<int64_t>(std::numeric_limits<D>::min());
            const auto high = static_cast<int64_t>(std::numeric_limits<D>::max());
            d[i] = static_cast<D>(std::clamp(wide, low, high));
        } else {
            d[i] = convert<D>(static_cast<double>(s[i]), how.mode);
        }
    }
}

constexpr uint32_t bit(RoundMode m) {
    return 1u << static_cast<int>(m);
}
constexpr uint32_t kNone = bit(RoundMode::CAST_NONE);
constexpr uint32_t kDirected = bit(RoundMode::CAST_FLOOR) | bit(RoundMode::CAST_CEIL) |
                               bit(RoundMode::CAST_ROUND) | bit(RoundMode::CAST_TRUNC);
constexpr uint32_t kFive = kDirected | bit(RoundMode::CAST_RINT);
constexpr uint32_t kAny = 0x7f;

struct Entry {
    DType dst, src;
    ConvertFunction function;
    uint32_t modes_220, modes_200, modes_100;  // 0: the product lacks the conversion
};

// clang-format off
constexpr Entry kConversions[] = {
    {DType::f16, DType::i8,  run<half, int8_t>,      kNone, kNone, kNone},
    {DType::f16, DType::u8,  run<half, uint8_t>,     kNone, kNone, kNone},
    {DType::f16, DType::i16, run<half, int16_t>,     kFive | kNone, kNone, 0},
    {DType::f16, DType::i32, run<half, int32_t>,     kAny, kAny, 0},
    {DType::f16, DType::f32, run<half, float>,       kFive | kNone | bit(RoundMode::CAST_ODD),
                                                     kNone | bit(RoundMode::CAST_ODD),
                                                     kNone | bit(RoundMode::CAST_ODD)},
    {DType::i8,  DType::f16, run<int8_t, half>,      kFive | kNone, kDirected | kNone, kDirected | kNone},
    {DType::u8,  DType::f16, run<uint8_t, half>,     kFive | kNone, kDirected | kNone, kDirected | kNone},
    {DType::i16, DType::f16, run<int16_t, half>,     kFive, bit(RoundMode::CAST_RINT), 0},
    {DType::i32, DType::f16, run<int32_t, half>,     kFive, kFive, kFive},
    {DType::f32, DType::f16, run<float, half>,       kNone, kNone, kNone},
    {DType::f32, DType::bf16, run<float, bfloat16_t>, kNone, 0, 0},
    {DType::i32, DType::bf16, run<int32_t, bfloat16_t>, kFive, 0, 0},
    {DType::bf16, DType::f32, run<bfloat16_t, float>, kFive, 0, 0},
    {DType::f32, DType::i16, run<float, int16_t>,    kNone, 0, 0},
    {DType::i16, DType::f32, run<int16_t, float>,    kFive, 0, 0},
    {DType::f32, DType::i32, run<float, int32_t>,    kFive | kNone, kNone, kNone},
    {DType::i32, DType::f32, run<int32_t, float>,    kFive, kFive, kFive},
    {DType::f32, DType::f32, run<float, float>,      kFive, 0, 0},
    {DType::i16, DType::i32, run<int16_t, int32_t>,  kNone, kNone, 0},
    {DType::i64, DType::i32, run<int64_t, int32_t>,  kNone, 0, 0},
    {DType::i32, DType::i64, run<int32_t, int64_t>,  kNone, 0, 0},
    {DType::i64, DType::f32, run<int64_t, float>,    kFive, 0, 0},
    {DType::f32, DType::i64, run<float, int64_t>,    kFive, 0, 0},
};
// clang-format on

const char* mode_name(RoundMode mode) {
    constexpr const char* kNames[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                      "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
    return kNames[static_cast<int>(mode)];
}

const Entry* find(DType dst, DType src) {
    for (const Entry& e : kConversions)
        if (e.dst == dst && e.src == src) return &e;
    return nullptr;
}

// Widening in place destroys sources before they are read.
void check_widening(Core& core, const Instr& instr, const rt::VectorCall& call, const Walk& walk,
                    const std::vector<Range>& dst, const std::vector<Range>& src) {
    if (call.dst.tensor.element_size <= call.src0.tensor.element_size) return;
    const uint64_t d0 = dst.front().begin, d1 = dst.back().end;
    const uint64_t s0 = src.front().begin, s1 = src.back().end;
    if (d1 <= s0 || s1 <= d0 || !call.counted || s1 == d1) return;
    // The manual warns of wrong results; with one repeat nothing can be overwritten too early.
    if (walk.repeats == 1)
        return core.note("widening-in-place", instr,
                         "dst and src overlap while the conversion widens");
    core.report(core.make("illegal-overlap", instr,
                          "dst and src overlap while the conversion widens: later sources are "
                          "overwritten before they are read",
                          call.dst.tensor));
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void scalar_cast(DType dst, DType src, AscendC::RoundMode mode, const void* from, void* to,
                 Loc loc) {
    Core& core = current_core("ScalarCast");
    const Instr instr = core.begin("ScalarCast", kS, loc);
    const Entry* entry = find(dst, src);
    if (entry == nullptr) {
        core.report(core.make("unsupported", instr, "no such conversion"));
        return;
    }
    entry->function(to, from, 1, {mode, 1.0f});
}

void cast(const VectorCall& call, AscendC::RoundMode mode, Loc loc) {
    Core& core = current_core("Cast");
    const Instr instr = core.begin("Cast", kV, loc);
    const UbTensor &dst_t = call.dst.tensor, &src_t = call.src0.tensor;
    const Entry* entry = find(dst_t.dtype, src_t.dtype);
    const std::string pair =
        std::string("from ") + dtype_name(src_t.dtype) + " to " + dtype_name(dst_t.dtype);
    const uint32_t modes = entry == nullptr       ? 0
                           : core.soc.arch == 220 ? entry->modes_220
                           : core.soc.arch == 200 ? entry->modes_200
                                                  : entry->modes_100;
    if (modes == 0) {
        core.report(core.make("unsupported", instr,
                              "no conversion " + pair + " on " + core.soc.name, dst_t));
        return;
    }
    if ((modes & bit(mode)) == 0) {
        core.report(core.make("illegal-round-mode", instr,
                              std::string(mode_name(mode)) + " does not exist for the conversion " +
                                  pair + " on " + core.soc.name,
                              dst_t, static_cast<int64_t>(mode)));
    }
    Walk walk;
    if (!plan(core, instr, call, std::max(dst_t.element_size, src_t.element_size), walk)) return;
    const Layout dst = layout_of(call.dst, walk), src = layout_of(call.src0, walk);
    const auto to = ranges_of(walk, dst), from = ranges_of(walk, src);
    if (!check_operand(core, instr, dst_t, "dst", to, 32)) return;
    if (!check_operand(core, instr, src_t, "src", from, 32)) return;
    check_widening(core, instr, call, walk, to, from);
    if (!call.counted || dst_t.element_size <= src_t.element_size)
        check_overlap(core, instr, walk, dst, dst_t, src, "src", false);
    const bool all = use_operand(core, instr, src_t, "src", from, false);
    use_operand(core, instr, dst_t, "dst", to, true);
    const Conversion how{mode, core.deq_scale};
    alignas(64) uint8_t in[2048] = {}, out[2048] = {};
    if (all) {
        for (const Range& r : to) core.ub_init.set(r.begin, r.end, true);
    } else {
        propagate_init(core, walk, dst, {&src});
    }
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        load_lanes(core, walk, src, r, in);
        entry->function(out, in, walk.lanes, how);
        store_lanes(core, walk, dst, r, out);
    }
    core.charge(instr, vector_cycles(core, 1, walk.repeats), walk.repeats);
}

}  // namespace ascendc_emulator::rt
