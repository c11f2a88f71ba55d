// Elementwise instructions in all call forms and element types.
#include "values.h"

using namespace values;

namespace {

template <typename T>
std::vector<T> operand(size_t n, unsigned seed) {
    if constexpr (std::is_integral_v<T>) return random_values<T>(n, 0, 100, seed);
    return random_values<T>(n, 0.25, 4, seed);
}

template <typename T>
std::string type_name(const std::string& api) {
    return api + " " + numpy_type<T>();
}

#define BINARY(Name, T)                                                                         \
    {                                                                                           \
        const auto old = operand<T>(1024, 1), a = operand<T>(1024, 2), b = operand<T>(1024, 3); \
        apply(type_name<T>(#Name) + " count 777", old, a, b,                                    \
              [](auto& d, auto& x, auto& y) { Name(d, x, y, 777); });                           \
        apply(type_name<T>(#Name) + " mask 37 3 1 1 1 8 8 8", old, a, b,                        \
              [](auto& d, auto& x, auto& y) {                                                   \
                  Name(d, x, y, 37, 3, BinaryRepeatParams{1, 1, 1, 8, 8, 8});                   \
              });                                                                               \
        apply(type_name<T>(#Name) + " mask 64 2 2 1 1 16 8 0", old, a, b,                       \
              [](auto& d, auto& x, auto& y) {                                                   \
                  Name(d, x, y, 64, 2, BinaryRepeatParams{2, 1, 1, 16, 8, 0});                  \
              });                                                                               \
        apply(type_name<T>(#Name) + " bits 2 1 1 1 8 8 8", old, a, b,                           \
              [](auto& d, auto& x, auto& y) {                                                   \
                  Name(d, x, y, bit_mask_for<T>(), 2, BinaryRepeatParams{1, 1, 1, 8, 8, 8});    \
              });                                                                               \
        apply(type_name<T>(#Name) + " counter 700 1 1 1 8 8 8", old, a, b,                      \
              [](auto& d, auto& x, auto& y) {                                                   \
                  SetMaskCount();                                                               \
                  SetVectorMask<T, MaskMode::COUNTER>(0, 700);                                  \
                  Name<T, false>(d, x, y, MASK_PLACEHOLDER, 1,                                  \
                                 BinaryRepeatParams{1, 1, 1, 8, 8, 8});                         \
                  SetMaskNorm();                                                                \
                  ResetMask();                                                                  \
              });                                                                               \
    }

#define UNARY(Name, T)                                                             \
    {                                                                              \
        const auto old = operand<T>(1024, 1), a = operand<T>(1024, 2);             \
        apply(type_name<T>(#Name) + " count 777", old, a, a,                       \
              [](auto& d, auto& x, auto&) { Name(d, x, 777); });                   \
        apply(type_name<T>(#Name) + " mask 37 3 1 1 1 8 8 8", old, a, a,           \
              [](auto& d, auto& x, auto&) {                                        \
                  Name(d, x, 37, 3, UnaryRepeatParams{1, 1, 8, 8});                \
              });                                                                  \
        apply(type_name<T>(#Name) + " bits 2 1 1 1 8 8 8", old, a, a,              \
              [](auto& d, auto& x, auto&) {                                        \
                  Name(d, x, bit_mask_for<T>(), 2, UnaryRepeatParams{1, 1, 8, 8}); \
              });                                                                  \
    }

// The scalar is b[0].
#define SCALAR(Name, T)                                                                  \
    {                                                                                    \
        const auto old = operand<T>(1024, 1), a = operand<T>(1024, 2);                   \
        const std::vector<T> b(16, static_cast<T>(3));                                   \
        apply(type_name<T>(#Name) + " count 777", old, a, b,                             \
              [&](auto& d, auto& x, auto&) { Name(d, x, b[0], 777); });                  \
        apply(type_name<T>(#Name) + " mask 37 3 1 1 1 8 8 8", old, a, b,                 \
              [&](auto& d, auto& x, auto&) {                                             \
                  Name(d, x, b[0], 37, 3, UnaryRepeatParams{1, 1, 8, 8});                \
              });                                                                        \
        apply(type_name<T>(#Name) + " bits 2 1 1 1 8 8 8", old, a, b,                    \
              [&](auto& d, auto& x, auto&) {                                             \
                  Name(d, x, b[0], bit_mask_for<T>(), 2, UnaryRepeatParams{1, 1, 8, 8}); \
              });                                                                        \
    }

template <typename T>
void arithmetic() {
    BINARY(Add, T)
    BINARY(Sub, T)
    BINARY(Mul, T)
    BINARY(Max, T)
    BINARY(Min, T)
    if constexpr (is_floating<T>) {
        BINARY(Div, T)
        UNARY(Exp, T)
        UNARY(Ln, T)
        UNARY(Abs, T)
        UNARY(Sqrt, T)
        UNARY(Rsqrt, T)
        UNARY(Reciprocal, T)
    }
    if constexpr (has_scalar_arithmetic<T>) {
        SCALAR(Adds, T)
        SCALAR(Muls, T)
        if constexpr (!on_910) {
            SCALAR(Maxs, T)
            SCALAR(Mins, T)
        }
    }
    if constexpr (is_floating<T> && !on_910) {
        BINARY(FusedMulAdd, T)
        BINARY(FusedMulAddRelu, T)
        SCALAR(LeakyRelu, T)
    }
    if constexpr (has_relu_pair<T>) {
        BINARY(AddRelu, T)
        BINARY(SubRelu, T)
    }
    if constexpr (is_floating<T> || (!on_910 && std::is_same_v<T, int32_t>)) UNARY(Relu, T)
    if constexpr (has_shift<T>) {
        SCALAR(ShiftLeft, T)
        SCALAR(ShiftRight, T)
    }
}

template <typename T>
void bitwise() {
    BINARY(And, T)
    BINARY(Or, T)
    if constexpr (sizeof(T) == 2) UNARY(Not, T)
}

template <typename D, typename S>
void mixed(const std::string& name) {
    const auto old = operand<D>(512, 4);
    const auto a = operand<S>(512, 5), b = operand<S>(512, 6);
    const auto three = static_cast<S>(3);
    constexpr uint8_t rep = repeat_blocks<S, D>;
    const std::string axpy = "Axpy " + name + " count 500";
    apply(axpy, old, a, b, [&](auto& d, auto& x, auto&) { Axpy(d, x, three, 500); });
    apply(axpy + " mask 37 3", old, a, b, [&](auto& d, auto& x, auto&) {
        Axpy(d, x, three, 37, 3, UnaryRepeatParams{1, 1, 8, rep});
    });
    apply(axpy + " bits 2", old, a, b, [&](auto& d, auto& x, auto&) {
        Axpy(d, x, three, bit_mask_for<D>(), 2, UnaryRepeatParams{1, 1, 8, rep});
    });
#if __CCE_AICORE__ != 100
    const std::string product = "MulAddDst " + name + " count 500";
    apply(product, old, a, b, [](auto& d, auto& x, auto& y) { MulAddDst(d, x, y, 500); });
    apply(product + " mask 37 3", old, a, b, [](auto& d, auto& x, auto& y) {
        MulAddDst(d, x, y, 37, 3, BinaryRepeatParams{1, 1, 1, 8, rep, rep});
    });
    apply(product + " bits 2", old, a, b, [](auto& d, auto& x, auto& y) {
        MulAddDst(d, x, y, bit_mask_for<D>(), 2, BinaryRepeatParams{1, 1, 1, 8, rep, rep});
    });
#endif
}

}  // namespace

void values::elementwise_values() {
    arithmetic<float>();
    arithmetic<half>();
    arithmetic<int32_t>();
#if __CCE_AICORE__ != 100
    arithmetic<int16_t>();
    mixed<float, half>("f4 f2");
#endif
    bitwise<uint16_t>();
    mixed<float, float>("f4 f4");
    mixed<half, half>("f2 f2");
}
