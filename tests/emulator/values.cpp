// One call per API, form and element type; check_values.py recomputes each with NumPy.
#include "values.h"

using namespace values;

namespace {

constexpr uint64_t kBits[2] = {0xf0f0a5a50123ffffull, 0x00ff00ff12345678ull};

template <typename T>
uint64_t* bit_mask_for() {
    static uint64_t mask[2];
    mask[0] = kBits[0];
    mask[1] = sizeof(T) == 2 ? kBits[1] : 0;
    return mask;
}

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
    apply("Axpy " + name + " count 500", old, a, b,
          [&](auto& d, auto& x, auto&) { Axpy(d, x, static_cast<S>(3), 500); });
#if __CCE_AICORE__ != 100
    apply("MulAddDst " + name + " count 500", old, a, b,
          [](auto& d, auto& x, auto& y) { MulAddDst(d, x, y, 500); });
#endif
}

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
void reductions() {
    const std::vector<T> old(1024, static_cast<T>(9));
    const auto a = random_values<T>(8192, -1, 1, 11);
    const std::string t = numpy_type<T>();
    const int lanes = 256 / static_cast<int>(sizeof(T));
    apply("WholeReduceSum " + t + " full", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, lanes, 20, 1, 1, 8); });
    apply("WholeReduceSum " + t + " mask", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, 37, 20, 3, 1, 8); });
    apply("WholeReduceSum " + t + " bits", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, bit_mask_for<T>(), 20, 1, 1, 8); });
    if constexpr (has_reduce<T>) {
        apply("BlockReduceSum " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceSum(d, x, 20, lanes, 1, 1, 8); });
        apply("BlockReduceMax " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceMax(d, x, 20, lanes, 1, 1, 8); });
        apply("BlockReduceMin " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceMin(d, x, 20, lanes, 1, 1, 8); });
        apply("PairReduceSum " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { PairReduceSum(d, x, 5, lanes, 1, 1, 8); });
        apply("WholeReduceMax " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { WholeReduceMax(d, x, lanes, 20, 1, 1, 8); });
        apply("WholeReduceMin " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { WholeReduceMin(d, x, lanes, 20, 1, 1, 8); });
        apply("ReduceSum " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceSum(d, x, w, 5000); });
        apply("ReduceSum " + t + " repeats 40", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceSum(d, x, w, lanes, 40, 8); });
        apply("ReduceMax " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceMax(d, x, w, 5000, true); });
        apply("ReduceMin " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceMin(d, x, w, 5000, true); });
    }
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
#if __CCE_AICORE__ != 100
        apply("CompareScalar " + t + " " + digit, bits, a, b, [&](auto& d, auto& x, auto&) {
            CompareScalar(d, x, static_cast<T>(0.25f), m, 1024);
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
    with_mask("Select " + t + " scalar", [&](auto& d, auto& m, auto& x, auto&) {
        Select(d, m, x, static_cast<T>(5), SELMODE::VSEL_TENSOR_SCALAR_MODE, 1000);
    });
#endif
}

template <typename T>
void moves() {
    const std::string t = numpy_type<T>();
    const std::vector<T> old(4096, static_cast<T>(9));
    const auto a = random_values<T>(1024, 0, 50, 31);
    apply("Duplicate " + t + " count 777", old, a, a,
          [&](auto& d, auto&, auto&) { Duplicate(d, static_cast<T>(3), 777); });
    if constexpr (has_to_5hd<T>)
        apply("TransDataTo5HD " + t, old, a, a, [&](auto& d, auto& x, auto&) {
            LocalTensor<T> to[16], from[16];
            const uint32_t row = 32 / sizeof(T);
            for (uint32_t i = 0; i < 16; ++i) {
                to[i] = d[i * row];
                from[i] = x[i * row];
            }
            TransDataTo5HD<T>(to, from, TransDataTo5HDParams());
        });
    if constexpr (sizeof(T) == 2)
        apply("Transpose " + t, old, a, a, [](auto& d, auto& x, auto&) { Transpose(d, x); });
#if __CCE_AICORE__ != 100
    apply("Brcb " + t, old, a, a, [](auto& d, auto& x, auto&) {
        Brcb(d, x, 3, BrcbRepeatParams{1, 8});
    });
    apply("GatherMask " + t + " 1", old, a, a, [](auto& d, auto& x, auto&) {
        uint64_t n = 0;
        GatherMask(d, x, uint8_t(1), false, 0, GatherMaskParams{1, 4, 8, 0}, n);
    });
    apply("GatherMask " + t + " 5", old, a, a, [](auto& d, auto& x, auto&) {
        uint64_t n = 0;
        GatherMask(d, x, uint8_t(5), false, 0, GatherMaskParams{1, 4, 8, 0}, n);
    });
    std::vector<uint32_t> offsets(512);
    for (size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = static_cast<uint32_t>((i * 613 + 5) % 1000 * sizeof(T));
    GM_ADDR g_offsets = to_gm(offsets);
    apply("Gather " + t, old, a, a, [&](auto& d, auto& x, auto&) {
        TBuf<TPosition::VECCALC> buffer;
        LocalTensor<uint32_t> index;
        load(*GetTPipePtr(), buffer, index, g_offsets, offsets.size());
        PipeBarrier<PIPE_ALL>();
        Gather(d, x, index, static_cast<uint32_t>(4 * sizeof(T)), 500u);
    });
    ascendc_emulator::GmFree(g_offsets);
    if constexpr (is_floating<T>) {
        apply("Broadcast " + t + " rows", old, a, a, [](auto& d, auto& x, auto&) {
            const uint32_t to[] = {16, 64}, from[] = {1, 64};
            Broadcast<T, 2, 0>(d, x, to, from);
        });
        apply("Broadcast " + t + " columns", old, a, a, [](auto& d, auto& x, auto&) {
            const uint32_t to[] = {16, 64}, from[] = {16, 1};
            Broadcast<T, 2, 1>(d, x, to, from);
        });
    }
#endif
#if __CCE_AICORE__ == 220
    if constexpr (one_of<T, half, float, int32_t, int16_t>)
        apply("CreateVecIndex " + t, old, a, a,
              [](auto& d, auto&, auto&) { CreateVecIndex(d, static_cast<T>(5), 777u); });
    apply("Copy " + t, old, a, a, [](auto& d, auto& x, auto&) {
        Copy(d, x, 50, 3, CopyRepeatParams{1, 1, 8, 8});
    });
#endif
}

void copies() {
    const auto gm = random_values<float>(4096, -1, 1, 41);
    const std::vector<float> old(4096, 9.0f);
    GM_ADDR g = to_gm(gm);
    const auto from_gm = [&](const std::string& name, auto body) {
        apply(name, old, gm, gm, [&](auto& d, auto&, auto&) {
            GlobalTensor<float> source;
            source.SetGlobalBuffer(reinterpret_cast<float*>(g));
            body(d, source);
        });
    };
    from_gm("DataCopy strided", [](auto& d, auto& s) {
        DataCopy(d, s, DataCopyParams{5, 3, 2, 1});
    });
#if __CCE_AICORE__ == 220
    from_gm("DataCopyPad values", [](auto& d, auto& s) {
        DataCopyPad(d, s, DataCopyExtParams{4, 44, 20, 1, 0},
                    DataCopyPadExtParams<float>{true, 2, 3, 7.0f});
    });
    from_gm("DataCopyPad first", [](auto& d, auto& s) {
        DataCopyPad(d, s, DataCopyExtParams{4, 44, 20, 0, 0},
                    DataCopyPadExtParams<float>{true, 0, 0, 7.0f});
    });
#endif
    ascendc_emulator::GmFree(g);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    values::output = std::fopen(argv[1], "wb");
    if (values::output == nullptr) return 2;
    std::fprintf(values::output, "soc %s\n", ASCENDC_EMULATOR_SOC_NAME);
    arithmetic<float>();
    arithmetic<half>();
    arithmetic<int32_t>();
#if __CCE_AICORE__ != 100
    arithmetic<int16_t>();
    mixed<float, half>("f4 f2");
    compare_select<float>();
#endif
    bitwise<uint16_t>();
    mixed<float, float>("f4 f4");
    mixed<half, half>("f2 f2");
    all_casts();
    reductions<float>();
    reductions<half>();
    compare_select<half>();
    moves<half>();
    moves<int16_t>();
    moves<float>();
    copies();
    std::fclose(values::output);
    return values::failures == 0 ? 0 : 1;
}
