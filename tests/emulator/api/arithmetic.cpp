// Elementwise instructions and fills in all call forms and element types.
#include "operands.h"

namespace {

#define BINARY(Name, T)                                                                \
    Name(u.dst<T>(), u.src0<T>(), u.src1<T>(), 64);                                    \
    Name(u.dst<T>(), u.src0<T>(), u.src1<T>(), uint64_t(16), 1, BinaryRepeatParams()); \
    Name(u.dst<T>(), u.src0<T>(), u.src1<T>(), u.bits, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
#define UNARY(Name, T)                                                   \
    Name(u.dst<T>(), u.src0<T>(), 64);                                   \
    Name(u.dst<T>(), u.src0<T>(), uint64_t(16), 1, UnaryRepeatParams()); \
    Name(u.dst<T>(), u.src0<T>(), u.bits, 2, UnaryRepeatParams(1, 1, 8, 8));
#define SCALAR(Name, T)                                                        \
    Name(u.dst<T>(), u.src0<T>(), T(1), 64);                                   \
    Name(u.dst<T>(), u.src0<T>(), T(1), uint64_t(16), 1, UnaryRepeatParams()); \
    Name(u.dst<T>(), u.src0<T>(), T(1), u.bits, 2, UnaryRepeatParams());

__aicore__ inline void binary(Operands& u) {
#define ARITHMETIC(T) BINARY(Add, T) BINARY(Sub, T) BINARY(Mul, T) BINARY(Max, T) BINARY(Min, T)
    ARITHMETIC(float)
    ARITHMETIC(half)
    ARITHMETIC(int32_t)
    BINARY(Div, float)
    BINARY(Div, half)
    BINARY(And, int16_t)
    BINARY(And, uint16_t)
    BINARY(Or, int16_t)
    BINARY(Or, uint16_t)
#if __CCE_AICORE__ != 100
    ARITHMETIC(int16_t)
#define FUSED(T) \
    BINARY(AddRelu, T) BINARY(SubRelu, T) BINARY(FusedMulAdd, T) BINARY(FusedMulAddRelu, T)
    FUSED(float)
    FUSED(half)
    BINARY(AddRelu, int16_t)
    BINARY(SubRelu, int16_t)
#endif
}

__aicore__ inline void unary(Operands& u) {
#define FUNCTIONS(T) \
    UNARY(Exp, T)    \
    UNARY(Ln, T) UNARY(Abs, T) UNARY(Reciprocal, T) UNARY(Sqrt, T) UNARY(Rsqrt, T) UNARY(Relu, T)
    FUNCTIONS(float)
    FUNCTIONS(half)
    UNARY(Not, int16_t)
    UNARY(Not, uint16_t)
    SCALAR(Adds, float)
    SCALAR(Adds, half)
    SCALAR(Muls, float)
    SCALAR(Muls, half)
#if __CCE_AICORE__ != 100
    UNARY(Relu, int32_t)
#define LIMITS(T) SCALAR(Maxs, T) SCALAR(Mins, T)
    LIMITS(float)
    LIMITS(half)
    LIMITS(int16_t)
    LIMITS(int32_t)
    SCALAR(Adds, int16_t)
    SCALAR(Adds, int32_t)
    SCALAR(Muls, int16_t)
    SCALAR(Muls, int32_t)
    SCALAR(LeakyRelu, float)
    SCALAR(LeakyRelu, half)
#endif
#if __CCE_AICORE__ == 220
    BINARY(And, int32_t)
    BINARY(And, uint32_t)
    BINARY(Or, int32_t)
    BINARY(Or, uint32_t)
#define SHIFTS(T) SCALAR(ShiftLeft, T) SCALAR(ShiftRight, T)
    SHIFTS(int16_t)
    SHIFTS(uint16_t)
    SHIFTS(int32_t)
    SHIFTS(uint32_t)
#endif
}

__aicore__ inline void accumulating(Operands& u) {
#define AXPY(T, U)                                                             \
    Axpy(u.dst<T>(), u.src0<U>(), U(1), 64);                                   \
    Axpy(u.dst<T>(), u.src0<U>(), U(1), uint64_t(16), 1, UnaryRepeatParams()); \
    Axpy(u.dst<T>(), u.src0<U>(), U(1), u.bits, 1, UnaryRepeatParams());
    AXPY(float, float)
    AXPY(half, half)
    AXPY(float, half)
#if __CCE_AICORE__ != 100
#define MUL_ADD(T, U)                                                                       \
    MulAddDst(u.dst<T>(), u.src0<U>(), u.src1<U>(), 64);                                    \
    MulAddDst(u.dst<T>(), u.src0<U>(), u.src1<U>(), uint64_t(16), 1, BinaryRepeatParams()); \
    MulAddDst(u.dst<T>(), u.src0<U>(), u.src1<U>(), u.bits, 1, BinaryRepeatParams());
    MUL_ADD(float, float)
    MUL_ADD(half, half)
    MUL_ADD(float, half)
#endif
}

__aicore__ inline void fills(Operands& u) {
#define DUPLICATE(T)                                    \
    Duplicate(u.dst<T>(), T(1), 64);                    \
    Duplicate(u.dst<T>(), T(1), uint64_t(16), 1, 1, 8); \
    Duplicate(u.dst<T>(), T(1), u.bits, 1, 1, 8);
    DUPLICATE(half)
    DUPLICATE(float)
    DUPLICATE(int16_t)
    DUPLICATE(uint16_t)
    DUPLICATE(int32_t)
    DUPLICATE(uint32_t)
#if __CCE_AICORE__ == 220
    Duplicate(u.dst<bfloat16_t>(), bfloat16_t(1.0f), 64);
    Duplicate(u.dst<bfloat16_t>(), bfloat16_t(1.0f), uint64_t(16), 1, 1, 8);
    Duplicate(u.dst<bfloat16_t>(), bfloat16_t(1.0f), u.bits, 1, 1, 8);
#define INDEX(T)                                              \
    {                                                         \
        auto indices = u.dst<T>();                            \
        CreateVecIndex(indices, T(0), uint64_t(16), 1, 1, 8); \
        CreateVecIndex(indices, T(0), u.bits, 1, 1, 8);       \
        CreateVecIndex(u.dst<T>(), T(0), 64);                 \
    }
    INDEX(int16_t)
    INDEX(half)
    INDEX(int32_t)
    INDEX(float)
#define COPY(T)                                                         \
    Copy(u.dst<T>(), u.src0<T>(), uint64_t(16), 1, CopyRepeatParams()); \
    Copy(u.dst<T>(), u.src0<T>(), u.bits, 1, CopyRepeatParams(1, 1, 8, 8));
    COPY(half)
    COPY(bfloat16_t)
    COPY(int16_t)
    COPY(uint16_t)
    COPY(float)
    COPY(int32_t)
    COPY(uint32_t)
#endif
}

}  // namespace

extern "C" __global__ __aicore__ void arithmetic(GM_ADDR x, GM_ADDR, GM_ADDR) {
    TPipe pipe;
    Operands u;
    u.init(pipe, x);
    binary(u);
    unary(u);
    accumulating(u);
    fills(u);
}
