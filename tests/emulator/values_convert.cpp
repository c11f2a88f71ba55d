// Cast in every rounding mode, Compare and Select.
#include "values.h"

using namespace values;

namespace {

const RoundMode kModes[] = {RoundMode::CAST_NONE, RoundMode::CAST_RINT,  RoundMode::CAST_FLOOR,
                            RoundMode::CAST_CEIL, RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC,
                            RoundMode::CAST_ODD};

// `modes`: one digit per rounding mode of the pair on this product.
template <typename D, typename S>
void casts(const char* modes, double low, double high) {
    auto a = random_values<S>(512, low, high, 7);
    if constexpr (!std::is_integral_v<S>) {
        const float special[] = {
            0.5f,    1.5f,  2.5f,       -0.5f,          -1.5f,           -2.5f,
            0.0f,    -0.0f, 1.0009766f, 65519.0f,       65504.0f,        1e-7f,
            6.1e-5f, 3e-8f, 2.9e-8f,    1.00048828125f, -1.00048828125f, 1.00390625f};
        for (size_t i = 0; i < sizeof special / sizeof *special; ++i)
            if (special[i] >= low && special[i] <= high) a[i] = static_cast<S>(special[i]);
    }
    const std::vector<D> old(512, static_cast<D>(1));
    for (const char* m = modes; *m != 0; ++m) {
        const RoundMode mode = kModes[*m - '0'];
        const std::string name =
            std::string("Cast ") + numpy_type<D>() + " " + numpy_type<S>() + " " + *m;
        apply(name + " count", old, a, a, [&](auto& d, auto& x, auto&) { Cast(d, x, mode, 500); });
        using Wider = std::conditional_t<(sizeof(D) > sizeof(S)), D, S>;
        const UnaryRepeatParams params{1, 1, repeat_blocks<D, Wider>, repeat_blocks<S, Wider>};
        const uint64_t lanes = 256 / sizeof(Wider);
        apply(name + " count mask 27 3", old, a, a,
              [&](auto& d, auto& x, auto&) { Cast(d, x, mode, 27, 3, params); });
        apply(name + " count bits 2", old, a, a, [&](auto& d, auto& x, auto&) {
            uint64_t bits[2] = {bit_mask_for<Wider>()[0], bit_mask_for<Wider>()[1]};
            if (lanes == 32) bits[0] &= 0xffffffffu;
            Cast(d, x, mode, bits, 2, params);
        });
    }
}

void all_casts() {
#if __CCE_AICORE__ == 220
    casts<half, float>("0123456", -70000, 70000);
    casts<half, float>("0123456", -3, 3);
    casts<bfloat16_t, float>("12345", -3, 3);
    casts<float, bfloat16_t>("0", -100, 100);
    casts<int32_t, bfloat16_t>("12345", -100, 100);
    casts<int16_t, float>("12345", -40000, 40000);
    casts<float, int16_t>("0", -30000, 30000);
    casts<float, float>("12345", -100, 100);
    casts<int64_t, float>("12345", -1e6, 1e6);
    casts<float, int64_t>("12345", -1e12, 1e12);
    casts<int64_t, int32_t>("0", -1e9, 1e9);
    casts<int32_t, int64_t>("0", -1e10, 1e10);
    casts<float, int32_t>("012345", -2e9, 2e9);
    casts<int8_t, half>("012345", -200, 200);
    casts<uint8_t, half>("012345", -20, 300);
    casts<int16_t, half>("12345", -40000, 40000);
    casts<half, int16_t>("012345", -30000, 30000);
#elif __CCE_AICORE__ == 200
    casts<half, float>("06", -70000, 70000);
    casts<float, int32_t>("0", -2e9, 2e9);
    casts<int8_t, half>("02345", -200, 200);
    casts<int16_t, half>("1", -40000, 40000);
#else
    casts<half, float>("06", -3, 3);
    casts<uint8_t, half>("02345", -20, 300);
#endif
    casts<float, half>("0", -100, 100);
    casts<int32_t, float>("12345", -3e9, 3e9);
    casts<int32_t, half>("12345", -100, 100);
    casts<half, int8_t>("0", -120, 120);
    casts<half, uint8_t>("0", 0, 250);
}

template <typename T>
void compare_select() {
    const std::string t = numpy_type<T>();
    const std::vector<T> old(1024, static_cast<T>(9));
    auto a = random_values<T>(1024, -1, 1, 21), b = random_values<T>(1024, -1, 1, 22);
    for (size_t i = 0; i < 1024; i += 7) b[i] = a[i];
    const std::vector<uint8_t> bits(1024, 0xab);
    const CMPMODE modes[] = {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ,
                             CMPMODE::LE, CMPMODE::GE, CMPMODE::NE};
    for (CMPMODE m : modes) {
        const std::string digit(1, static_cast<char>('0' + static_cast<int>(m)));
        apply("Compare " + t + " " + digit, bits, a, b,
              [&](auto& d, auto& x, auto& y) { Compare(d, x, y, m, 1024); });
        apply("Compare " + t + " " + digit + " repeats 3", bits, a, b,
              [&](auto& d, auto& x, auto& y) { Compare(d, x, y, m, 37, 3, BinaryRepeatParams()); });
#if __CCE_AICORE__ != 100
        apply("CompareScalar " + t + " " + digit, bits, a, b, [&](auto& d, auto& x, auto&) {
            CompareScalar(d, x, static_cast<T>(0.25f), m, 1024);
        });
        apply("CompareScalar " + t + " " + digit + " repeats 3", bits, a, b,
              [&](auto& d, auto& x, auto&) {
                  CompareScalar(d, x, static_cast<T>(0.25f), m, bit_mask_for<T>(), 3,
                                UnaryRepeatParams());
              });
#endif
    }
    std::vector<uint8_t> random_bits(1024);
    for (size_t i = 0; i < random_bits.size(); ++i)
        random_bits[i] = static_cast<uint8_t>(i * 37 + 11);
    // The mask travels as bytes of the first operand's type.
    const auto with_mask = [&](const std::string& name, auto body) {
        GM_ADDR g_mask = to_gm(random_bits);
        apply(name, old, a, b, [&](auto& d, auto& x, auto& y) {
            TBuf<TPosition::VECCALC> buffer;
            LocalTensor<uint8_t> mask;
            load(*GetTPipePtr(), buffer, mask, g_mask, random_bits.size());
            PipeBarrier<PIPE_ALL>();
            body(d, mask, x, y);
        });
        ascendc_emulator::GmFree(g_mask);
    };
    const int lanes = 256 / static_cast<int>(sizeof(T));
    with_mask("Select " + t + " register", [&](auto& d, auto& m, auto& x, auto& y) {
        Select(d, m, x, y, SELMODE::VSEL_CMPMASK_SPR, static_cast<uint64_t>(lanes), 1,
               BinaryRepeatParams());
    });
#if __CCE_AICORE__ != 100
    with_mask("Select " + t + " tensor", [&](auto& d, auto& m, auto& x, auto& y) {
        Select(d, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 1000);
    });
    with_mask("Select " + t + " tensor mask 37 3", [&](auto& d, auto& m, auto& x, auto& y) {
        Select(d, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 37, 3, BinaryRepeatParams());
    });
    with_mask("Select " + t + " scalar bits 2", [&](auto& d, auto& m, auto& x, auto&) {
        Select(d, m, x, static_cast<T>(5), SELMODE::VSEL_TENSOR_SCALAR_MODE, bit_mask_for<T>(), 2,
               BinaryRepeatParams());
    });
    with_mask("Select " + t + " scalar", [&](auto& d, auto& m, auto& x, auto&) {
        Select(d, m, x, static_cast<T>(5), SELMODE::VSEL_TENSOR_SCALAR_MODE, 1000);
    });
#endif
}

}  // namespace

void values::conversion_values() {
    all_casts();
#if __CCE_AICORE__ != 100
    compare_select<float>();
#endif
    compare_select<half>();
}
