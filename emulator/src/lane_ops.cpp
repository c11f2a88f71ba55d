#include "lane_ops.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ascendc_emulator {
namespace {

using rt::DType;
using rt::Op;

// Lanes are computed in Wide<T> and rounded to T once.
template <typename T>
struct WideOf {
    using type = T;
};
template <>
struct WideOf<half> {
    using type = float;
};
template <>
struct WideOf<bfloat16_t> {
    using type = float;
};
template <>
struct WideOf<int16_t> {
    using type = int32_t;
};
template <>
struct WideOf<uint16_t> {
    using type = uint32_t;
};
template <typename T>
using Wide = typename WideOf<T>::type;

template <typename T>
Wide<T> add_wrapping(Wide<T> a, Wide<T> b) {
    if constexpr (std::is_same_v<T, int32_t>)
        return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    else
        return a + b;
}
template <typename T>
Wide<T> sub_wrapping(Wide<T> a, Wide<T> b) {
    if constexpr (std::is_same_v<T, int32_t>)
        return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
    else
        return a - b;
}
template <typename T>
Wide<T> mul_wrapping(Wide<T> a, Wide<T> b) {
    if constexpr (std::is_same_v<T, int32_t>)
        return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    else
        return a * b;
}
template <typename W>
W relu(W x) {
    return x > W(0) ? x : W(0);
}
// Multiply-add rounds once, as one instruction.
template <typename W>
W fused(W a, W b, W c) {
    if constexpr (std::is_same_v<W, float>)
        return std::fma(a, b, c);
    else
        return a * b + c;
}

template <typename T, Op op>
Wide<T> compute(Wide<T> a, Wide<T> b, Wide<T> old, bool flag) {
    using W = Wide<T>;
    (void)b, (void)old, (void)flag;
    if constexpr (op == Op::add || op == Op::adds) return add_wrapping<T>(a, b);
    if constexpr (op == Op::sub) return sub_wrapping<T>(a, b);
    if constexpr (op == Op::mul || op == Op::muls) return mul_wrapping<T>(a, b);
    if constexpr (op == Op::max || op == Op::maxs) return a > b ? a : b;
    if constexpr (op == Op::min || op == Op::mins) return a < b ? a : b;
    if constexpr (op == Op::add_relu) return relu<W>(add_wrapping<T>(a, b));
    if constexpr (op == Op::sub_relu) return relu<W>(sub_wrapping<T>(a, b));
    if constexpr (op == Op::relu) return relu<W>(a);
    if constexpr (op == Op::duplicate) return b;
    if constexpr (std::is_floating_point_v<W>) {
        if constexpr (op == Op::div) return a / b;
        if constexpr (op == Op::mul_add_dst || op == Op::axpy) return fused<W>(a, b, old);
        if constexpr (op == Op::fused_mul_add) return fused<W>(a, old, b);
        if constexpr (op == Op::fused_mul_add_relu) return relu<W>(fused<W>(a, old, b));
        if constexpr (op == Op::exp) return static_cast<W>(std::exp(static_cast<double>(a)));
        if constexpr (op == Op::ln) return static_cast<W>(std::log(static_cast<double>(a)));
        if constexpr (op == Op::abs) return std::fabs(a);
        if constexpr (op == Op::reciprocal) return static_cast<W>(1.0 / static_cast<double>(a));
        if constexpr (op == Op::sqrt) return std::sqrt(a);
        if constexpr (op == Op::rsqrt)
            return static_cast<W>(1.0 / std::sqrt(static_cast<double>(a)));
        if constexpr (op == Op::leaky_relu) return a > W(0) ? a : a * b;
    } else {
        if constexpr (op == Op::and_) return a & b;
        if constexpr (op == Op::or_) return a | b;
        if constexpr (op == Op::not_) return static_cast<W>(~a);
        constexpr int kBits = static_cast<int>(sizeof(T) * 8);
        using U = std::make_unsigned_t<T>;
        const int64_t s = static_cast<int64_t>(b);
        if constexpr (op == Op::shift_left)
            return s < 0 || s >= kBits ? W(0)
                                       : static_cast<T>(static_cast<U>(static_cast<U>(a) << s));
        if constexpr (op == Op::shift_right) {
            if (s <= 0) return a;
            const int64_t wide = static_cast<int64_t>(a);
            if (s >= kBits) return static_cast<W>(wide < 0 ? -1 : 0);
            return static_cast<W>((wide + (flag ? int64_t(1) << (s - 1) : 0)) >> s);
        }
    }
    return W();
}

template <typename D, typename S, Op op, bool scalar, bool accumulates>
void run_lanes(const LaneArgs& args) {
    auto* dst = static_cast<D*>(args.dst);
    const auto* a = static_cast<const S*>(args.a);
    const auto* b = static_cast<const S*>(args.b);
    Wide<D> s{};
    if constexpr (scalar) {
        S value;
        std::memcpy(&value, args.scalar, sizeof value);
        s = static_cast<Wide<D>>(value);
    }
    for (uint32_t i = 0; i < args.n; ++i) {
        const auto x = a == nullptr ? Wide<D>() : static_cast<Wide<D>>(a[i]);
        const auto y = scalar ? s : b == nullptr ? Wide<D>() : static_cast<Wide<D>>(b[i]);
        const auto old = accumulates ? static_cast<Wide<D>>(dst[i]) : Wide<D>();
        dst[i] = static_cast<D>(compute<D, op>(x, y, old, args.flag));
    }
}

template <typename T>
void copy_lanes(const LaneArgs& args) {
    std::memcpy(args.dst, args.a, args.n * sizeof(T));
}

template <typename D, typename S>
LaneFunction pick(Op op) {
    constexpr bool kFloat = std::is_floating_point_v<Wide<D>>;
    switch (op) {
        case Op::add:
            return run_lanes<D, S, Op::add, false, false>;
        case Op::sub:
            return run_lanes<D, S, Op::sub, false, false>;
        case Op::mul:
            return run_lanes<D, S, Op::mul, false, false>;
        case Op::max:
            return run_lanes<D, S, Op::max, false, false>;
        case Op::min:
            return run_lanes<D, S, Op::min, false, false>;
        case Op::add_relu:
            return run_lanes<D, S, Op::add_relu, false, false>;
        case Op::sub_relu:
            return run_lanes<D, S, Op::sub_relu, false, false>;
        case Op::relu:
            return run_lanes<D, S, Op::relu, false, false>;
        case Op::adds:
            return run_lanes<D, S, Op::adds, true, false>;
        case Op::muls:
            return run_lanes<D, S, Op::muls, true, false>;
        case Op::maxs:
            return run_lanes<D, S, Op::maxs, true, false>;
        case Op::mins:
            return run_lanes<D, S, Op::mins, true, false>;
        case Op::duplicate:
            return run_lanes<D, S, Op::duplicate, true, false>;
        case Op::copy:
            return copy_lanes<D>;
        default:
            break;
    }
    if constexpr (kFloat) {
        switch (op) {
            case Op::div:
                return run_lanes<D, S, Op::div, false, false>;
            case Op::mul_add_dst:
                return run_lanes<D, S, Op::mul_add_dst, false, true>;
            case Op::fused_mul_add:
                return run_lanes<D, S, Op::fused_mul_add, false, true>;
            case Op::fused_mul_add_relu:
                return run_lanes<D, S, Op::fused_mul_add_relu, false, true>;
            case Op::axpy:
                return run_lanes<D, S, Op::axpy, true, true>;
            case Op::exp:
                return run_lanes<D, S, Op::exp, false, false>;
            case Op::ln:
                return run_lanes<D, S, Op::ln, false, false>;
            case Op::abs:
                return run_lanes<D, S, Op::abs, false, false>;
            case Op::reciprocal:
                return run_lanes<D, S, Op::reciprocal, false, false>;
            case Op::sqrt:
                return run_lanes<D, S, Op::sqrt, false, false>;
            case Op::rsqrt:
                return run_lanes<D, S, Op::rsqrt, false, false>;
            case Op::leaky_relu:
                return run_lanes<D, S, Op::leaky_relu, true, false>;
            default:
                return nullptr;
        }
    } else {
        switch (op) {
            case Op::and_:
                return run_lanes<D, S, Op::and_, false, false>;
            case Op::or_:
                return run_lanes<D, S, Op::or_, false, false>;
            case Op::not_:
                return run_lanes<D, S, Op::not_, false, false>;
            case Op::shift_left:
                return run_lanes<D, S, Op::shift_left, true, false>;
            case Op::shift_right:
                return run_lanes<D, S, Op::shift_right, true, false>;
            default:
                return nullptr;
        }
    }
}

}  // namespace

LaneFunction find_lane_function(Op op, DType dst, DType src) {
    if (dst == DType::f32 && src == DType::f16) {
        if (op == Op::mul_add_dst) return run_lanes<float, half, Op::mul_add_dst, false, true>;
        if (op == Op::axpy) return run_lanes<float, half, Op::axpy, true, true>;
        return nullptr;
    }
    if (dst != src) return nullptr;
    switch (dst) {
        case DType::f32:
            return pick<float, float>(op);
        case DType::f16:
            return pick<half, half>(op);
        case DType::i16:
            return pick<int16_t, int16_t>(op);
        case DType::u16:
            return pick<uint16_t, uint16_t>(op);
        case DType::i32:
            return pick<int32_t, int32_t>(op);
        case DType::u32:
            return pick<uint32_t, uint32_t>(op);
        case DType::bf16:
            if (op == Op::duplicate)
                return run_lanes<bfloat16_t, bfloat16_t, Op::duplicate, true, false>;
            return op == Op::copy ? copy_lanes<bfloat16_t> : nullptr;
        default:
            return nullptr;
    }
}

// Relative weights: iterative functions occupy the vector unit longer than an addition.
double lane_weight(Op op, DType dst) {
    switch (op) {
        case Op::exp:
        case Op::ln:
        case Op::sqrt:
            return dst == DType::f16 ? 2 : 1;
        case Op::div:
            return dst == DType::f16 ? 4 : 2;
        case Op::mul_add_dst:
        case Op::fused_mul_add:
        case Op::fused_mul_add_relu:
            return 2;
        default:
            return 1;
    }
}

}  // namespace ascendc_emulator
