// Runs single API calls on one core and writes inputs and outputs to a file for check_values.py.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ascendc_emulator.h"
#include "kernel_operator.h"

namespace values {

using namespace AscendC;

template <typename T>
const char* numpy_type() {
    using rt::DType;
    switch (rt::dtype_of<T>()) {
        case DType::f32:
            return "f4";
        case DType::f16:
            return "f2";
        case DType::bf16:
            return "bf";
        case DType::i8:
            return "i1";
        case DType::u8:
            return "u1";
        case DType::i16:
            return "i2";
        case DType::u16:
            return "u2";
        case DType::i32:
            return "i4";
        case DType::u32:
            return "u4";
        case DType::i64:
            return "i8";
        default:
            return "u8";
    }
}

inline std::FILE* output = nullptr;
inline int failures = 0;

// A case is a line "case NAME", then per array a line "NAME TYPE COUNT" and the raw bytes.
inline void begin_case(const std::string& name) {
    std::fprintf(output, "case %s\n", name.c_str());
}

template <typename T>
void write_array(const char* name, const std::vector<T>& data) {
    std::fprintf(output, "%s %s %zu\n", name, numpy_type<T>(), data.size());
    std::fwrite(data.data(), sizeof(T), data.size(), output);
}

template <typename T>
std::vector<T> random_values(size_t n, double low, double high, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> draw(low, high);
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(draw(engine));
    return v;
}

// GM buffer holding a copy of the data, padded to 32 bytes.
template <typename T>
GM_ADDR to_gm(const std::vector<T>& data) {
    const size_t bytes = data.size() * sizeof(T);
    auto* p = static_cast<uint8_t*>(ascendc_emulator::GmAlloc((bytes + 31) / 32 * 32));
    std::memset(p, 0, (bytes + 31) / 32 * 32);
    if (bytes != 0) std::memcpy(p, data.data(), bytes);
    return p;
}

template <typename T>
void load(TPipe& pipe, TBuf<TPosition::VECCALC>& buffer, LocalTensor<T>& tensor, GM_ADDR from,
          size_t n) {
    const auto blocks = static_cast<uint16_t>((n * sizeof(T) + 31) / 32);
    pipe.InitBuffer(buffer, blocks * 32u);
    tensor = buffer.Get<T>();
    GlobalTensor<T> g;
    g.SetGlobalBuffer(reinterpret_cast<T*>(from));
    DataCopy(tensor, g, DataCopyParams{1, blocks, 0, 0});
}

inline void launch(const std::string& name, const std::function<void()>& kernel) {
    ascendc_emulator::Options options;
    const auto result = ascendc_emulator::launch(__CCE_AICORE__, name, 1, kernel, options);
    for (const auto& r : result.reports) {
        std::printf("%s: %s", name.c_str(), r.text().c_str());
        ++failures;
    }
}

// Loads a, b and dst's old contents, runs body(dst, a, b), stores dst; records everything.
template <typename D, typename S, typename Body>
void apply(const std::string& name, const std::vector<D>& old, const std::vector<S>& a,
           const std::vector<S>& b, Body body) {
    uint8_t *g_old = to_gm(old), *g_a = to_gm(a), *g_b = to_gm(b);
    launch(name, [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> b_old, b_a, b_b;
        LocalTensor<D> t_old;
        LocalTensor<S> t_a, t_b;
        load(pipe, b_old, t_old, g_old, old.size());
        load(pipe, b_a, t_a, g_a, a.size());
        load(pipe, b_b, t_b, g_b, b.size());
        PipeBarrier<PIPE_ALL>();
        body(t_old, t_a, t_b);
        PipeBarrier<PIPE_ALL>();
        GlobalTensor<D> g;
        g.SetGlobalBuffer(reinterpret_cast<D*>(g_old));
        DataCopy(
            g, t_old,
            DataCopyParams{1, static_cast<uint16_t>((old.size() * sizeof(D) + 31) / 32), 0, 0});
    });
    std::vector<D> out(old.size());
    std::memcpy(out.data(), g_old, old.size() * sizeof(D));
    begin_case(name);
    write_array("old", old);
    write_array("a", a);
    write_array("b", b);
    write_array("out", out);
    for (uint8_t* p : {g_old, g_a, g_b}) ascendc_emulator::GmFree(p);
}

// The bits of check_values.py's masks.
template <typename T>
uint64_t* bit_mask_for() {
    static uint64_t mask[2] = {0xf0f0a5a50123ffffull, sizeof(T) == 2 ? 0x00ff00ff12345678ull : 0};
    return mask;
}

// 32-byte blocks that a repeat of as many lanes as `Wider` has takes up in a tensor of T.
template <typename T, typename Wider>
constexpr uint8_t repeat_blocks = 8 * sizeof(T) / sizeof(Wider);

void elementwise_values();
void conversion_values();
void reduction_values();
void move_values();

}  // namespace values
