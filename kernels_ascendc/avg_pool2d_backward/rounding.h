// Rounding to 16-bit tensors, and the roundings of float32 tensors that cube_math_type asks for.
#pragma once

#include "common/copy.h"

namespace kernels {

// What rounds to 16 bit, to nearest even.
#if __CCE_AICORE__ == 220
constexpr RoundMode kNearest = RoundMode::CAST_RINT;
#else
constexpr RoundMode kNearest = RoundMode::CAST_NONE;
#endif

// `narrow` has room for as many values.
__aicore__ inline void round_to_float16(const LocalTensor<float>& x,
                                        const LocalTensor<half>& narrow, uint32_t count) {
    PipeBarrier<PIPE_V>();
    Cast(narrow, x, RoundMode::CAST_NONE, count);
    PipeBarrier<PIPE_V>();
    Cast(x, narrow, RoundMode::CAST_NONE, count);
}

constexpr uint32_t kHf32Step = 512;  // values at a time
constexpr uint32_t kHf32Bytes = (4 * kHf32Step + kHf32Step / 32) * 4;

#if __CCE_AICORE__ == 220
// x &= y, which exists for 16-bit elements only.
__aicore__ inline void both(const LocalTensor<int32_t>& x, const LocalTensor<int32_t>& y,
                            int32_t count) {
    const LocalTensor<uint16_t> words = x.ReinterpretCast<uint16_t>();
    And(words, words, y.ReinterpretCast<uint16_t>(), 2 * count);
}

// To 12 significant bits, to nearest even; infinities and NaN stay as they are. `bits` has
// kHf32Bytes.
__aicore__ inline void round_to_hf32(const LocalTensor<float>& x, const LocalTensor<int32_t>& bits,
                                     uint32_t count) {
    const LocalTensor<int32_t> ones = bits[kHf32Step], upper = bits[2 * kHf32Step];
    const LocalTensor<float> zeros = bits[3 * kHf32Step].ReinterpretCast<float>();
    const LocalTensor<uint8_t> is_finite = bits[4 * kHf32Step].ReinterpretCast<uint8_t>();
    Duplicate(ones, 1, kHf32Step);
    Duplicate(upper, ~0xfff, kHf32Step);
    for (uint32_t done = 0; done < count; done += kHf32Step) {
        const uint32_t left = count - done;
        const int32_t n = left < kHf32Step ? left : kHf32Step;
        const LocalTensor<float> values = x[done];
        const LocalTensor<int32_t> value_bits = values.ReinterpretCast<int32_t>();
        Duplicate(zeros, 0.0f, n);
        ShiftRight(bits.ReinterpretCast<uint32_t>(), value_bits.ReinterpretCast<uint32_t>(), 12u,
                   n);
        PipeBarrier<PIPE_V>();
        both(bits, ones, n);
        PipeBarrier<PIPE_V>();
        Adds(bits, bits, 0x7ff, n);
        PipeBarrier<PIPE_V>();
        Add(bits, bits, value_bits, n);
        PipeBarrier<PIPE_V>();
        both(bits, upper, n);
        Mul(zeros, zeros, values, n);  // NaN where a value is not finite
        PipeBarrier<PIPE_V>();
        Compare(is_finite, zeros, zeros, CMPMODE::EQ, round_up(n, 64));
        PipeBarrier<PIPE_V>();
        Select(values, is_finite, bits.ReinterpretCast<float>(), values,
               SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        PipeBarrier<PIPE_V>();
    }
}
#endif

}  // namespace kernels
