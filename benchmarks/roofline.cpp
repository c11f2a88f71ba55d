// ascend_grad._bench: kernels that move bytes and do nothing else, the limits that the benchmark
// compares operators with.
#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/parallel.h"
#include "isa/environment.h"
#include "traffic.h"

namespace py = pybind11;

namespace ascend_grad::bench {
namespace {

#define ALWAYS_INLINE inline __attribute__((always_inline))

// A step covers this many bytes of the largest buffer and the same share of the others: enough that
// finding the shares costs nothing beside, few enough for the nearest cache.
constexpr int64_t kStepBytes = 4096;

std::atomic<long long> g_sink{0};

template <bool kStream>
ALWAYS_INLINE void store(Line* to, const Line& line) {
#if defined(__x86_64__)
    if constexpr (kStream) {
        const auto* from = reinterpret_cast<const __m128i*>(&line);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, from[i]);
        return;
    }
#endif
    *to = line;
}

ALWAYS_INLINE void accumulate(Line& sum, const Line& line) {
    for (int i = 0; i < 2; ++i) sum.halves[i].values ^= line.halves[i].values;
}

template <bool kTwo, bool kAsks>
ALWAYS_INLINE void ask(const Traffic& traffic, int64_t line) {
    constexpr int64_t kAhead = 4096 / kLineBytes;
    if constexpr (kAsks) __builtin_prefetch(traffic.first + line + kAhead);
    if constexpr (kAsks && kTwo) __builtin_prefetch(traffic.second + line + kAhead);
}

template <bool kTwo, bool kAsks, bool kStream>
ALWAYS_INLINE void combine(const Traffic& traffic, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        ask<kTwo, kAsks>(traffic, i);
        Line line = traffic.first[i];
        if constexpr (kTwo) accumulate(line, traffic.second[i]);
        store<kStream>(traffic.target + i, line);
    }
}

template <bool kTwo, bool kAsks>
ALWAYS_INLINE void read(const Traffic& traffic, int64_t begin, int64_t end, Line& sum) {
    Line other{};
    for (int64_t i = begin; i < end; ++i) {
        ask<kTwo, kAsks>(traffic, i);
        accumulate(sum, traffic.first[i]);
        if constexpr (kTwo) accumulate(other, traffic.second[i]);
    }
    accumulate(sum, other);
}

// Steps [begin, end) of `steps` equal shares of all buffers.
template <bool kTwo, bool kAsks, bool kStream>
ALWAYS_INLINE void move(const Traffic& traffic, int64_t steps, int64_t begin, int64_t end) {
    if (traffic.source_lines == traffic.target_lines) {
        combine<kTwo, kAsks, kStream>(traffic, share(traffic.source_lines, begin, steps),
                                      share(traffic.source_lines, end, steps));
    } else if (traffic.target_lines == 0) {
        Line sum{};
        read<kTwo, kAsks>(traffic, share(traffic.source_lines, begin, steps),
                          share(traffic.source_lines, end, steps), sum);
        g_sink.fetch_xor((sum.halves[0].values ^ sum.halves[1].values)[0],
                         std::memory_order_relaxed);
    } else {
        Line sum{};
        for (int64_t step = begin; step < end; ++step) {
            read<kTwo, kAsks>(traffic, share(traffic.source_lines, step, steps),
                              share(traffic.source_lines, step + 1, steps), sum);
            const int64_t last = share(traffic.target_lines, step + 1, steps);
            for (int64_t i = share(traffic.target_lines, step, steps); i < last; ++i) {
                store<kStream>(traffic.target + i, sum);
            }
        }
    }
}

template <bool kTwo, bool kAsks>
ALWAYS_INLINE void move_to(const Traffic& traffic, bool stream, int64_t steps, int64_t begin,
                           int64_t end) {
    stream ? move<kTwo, kAsks, true>(traffic, steps, begin, end)
           : move<kTwo, kAsks, false>(traffic, steps, begin, end);
}
template <bool kTwo>
ALWAYS_INLINE void move_from(const Traffic& traffic, bool stream, int64_t steps, int64_t begin,
                             int64_t end) {
    traffic.asks ? move_to<kTwo, true>(traffic, stream, steps, begin, end)
                 : move_to<kTwo, false>(traffic, stream, steps, begin, end);
}
ALWAYS_INLINE void move_any(const Traffic& traffic, bool stream, int64_t steps, int64_t begin,
                            int64_t end) {
    traffic.second != nullptr ? move_from<true>(traffic, stream, steps, begin, end)
                              : move_from<false>(traffic, stream, steps, begin, end);
}

void move_baseline(const Traffic& traffic, bool stream, int64_t steps, int64_t begin, int64_t end) {
    move_any(traffic, stream, steps, begin, end);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void move_avx2(const Traffic& traffic, bool stream, int64_t steps,
                                               int64_t begin, int64_t end) {
    move_any(traffic, stream, steps, begin, end);
}
#endif

Mover widest_move() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return move_avx2;
#endif
    return move_baseline;
}

// `dtype`: "" to move bytes only.
Mover mover_of(const std::string& dtype) {
    if (dtype.empty()) return widest_move();
    const char* const names[] = {"float32", "float16", "bfloat16"};
    for (int i = 0; i < 3; ++i) {
        if (dtype == names[i]) return OF_LEVEL_IN_USE(movers)[i];
    }
    throw std::invalid_argument("no such dtype");
}

int64_t step_count(const Traffic& traffic, int64_t step_bytes) {
    const int64_t lines = std::max(traffic.source_lines, traffic.target_lines);
    return std::max<int64_t>(1, lines * kLineBytes / step_bytes);
}

void move_all(const Traffic& traffic, Mover move, bool stream, int threads, int64_t step_bytes) {
    const int64_t steps = step_count(traffic, step_bytes);
    parallel_for(steps, threads, [&](int64_t begin, int64_t end) {
        move(traffic, stream, steps, begin, end);
#if defined(__x86_64__)
        if (stream) _mm_sfence();
#endif
    });
}

Arithmetic arithmetic_of(const std::string& op) {
    const char* const names[] = {"", "batch_norm_reduce_backward", "prelu_backward",
                                 "softmax_backward", "avg_pool2d_backward"};
    for (int i = 0; i < 5; ++i) {
        if (op == names[i]) return static_cast<Arithmetic>(i);
    }
    throw std::invalid_argument("no such operator");
}

// Whether the buffers are those of the operator.
bool fits(const Traffic& traffic) {
    switch (traffic.arithmetic) {
        case Arithmetic::kNone:
            return true;
        case Arithmetic::kBatchNorm:
            return traffic.second != nullptr;
        case Arithmetic::kPrelu:
        case Arithmetic::kSoftmax:
            return traffic.second != nullptr && traffic.source_lines == traffic.target_lines;
        case Arithmetic::kAvgPool:
            return traffic.windows.shifted >= 0 &&
                   traffic.windows.shifted <= traffic.windows.additions &&
                   traffic.windows.equal > 0;
    }
    return false;
}

// Whether the buffers are whole planes in whole strips, or none are asked for.
bool has_whole_strips(const Traffic& traffic, const std::string& dtype, int64_t step_bytes) {
    constexpr int64_t kVectors = 32;
    const auto& [columns, pitch] = traffic.strips;
    if (columns == 0 && pitch == 0) return true;
    if (traffic.arithmetic != Arithmetic::kSoftmax || columns <= 0 || columns > kMostColumns ||
        columns % kVectors != 0 || pitch <= 0 || pitch % columns != 0)
        return false;
    const int64_t row_lines = pitch / (kLineBytes / (dtype == "float32" ? 4 : 2));
    return traffic.source_lines % row_lines == 0 &&
           step_count(traffic, step_bytes) % (pitch / columns) == 0;
}

// Seconds of each of `repeats` passes over the buffers, on average. Addresses are multiples of 64;
// what lies behind the last whole line is left out.
double seconds(uintptr_t first, uintptr_t second, int64_t source_bytes, uintptr_t target,
               int64_t target_bytes, bool stream, int threads, int64_t repeats,
               const std::string& dtype, const std::string& op, int additions, int shifted,
               int equal, int64_t row, int64_t columns, int64_t pitch, int64_t step_bytes,
               bool asks) {
    if ((first | second | target) % kLineBytes != 0)
        throw std::invalid_argument("buffers must lie on cache lines");
    const Traffic traffic{reinterpret_cast<const Line*>(first),
                          reinterpret_cast<const Line*>(second),
                          reinterpret_cast<Line*>(target),
                          source_bytes / kLineBytes,
                          target_bytes / kLineBytes,
                          asks,
                          arithmetic_of(op),
                          {additions, shifted, equal},
                          row,
                          {columns, pitch}};
    if (row < 0 || step_bytes < kStepBytes)
        throw std::invalid_argument("row must not be negative, step_bytes at least 4096");
    if (asks && (pitch != 0 || row != 0))
        throw std::invalid_argument("neither strips nor rows are asked for");
    if (dtype.empty() != op.empty() || !fits(traffic))
        throw std::invalid_argument("a dtype and the operator's buffers, or neither");
    if (!has_whole_strips(traffic, dtype, step_bytes))
        throw std::invalid_argument("columns must divide pitch, which steps of strips must fill");
    const Mover move = mover_of(dtype);
    const py::gil_scoped_release release;
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int64_t i = 0; i < repeats; ++i) move_all(traffic, move, stream, threads, step_bytes);
    return std::chrono::duration<double>(Clock::now() - start).count() /
           static_cast<double>(repeats);
}

}  // namespace

PYBIND11_MODULE(_bench, m) {
#if defined(__x86_64__)
    m.attr("has_streaming_stores") = true;
#else
    m.attr("has_streaming_stores") = false;
#endif
    m.def(
        "seconds", seconds, py::arg("first"), py::arg("second"), py::arg("source_bytes"),
        py::arg("target"), py::arg("target_bytes"), py::arg("stream"), py::arg("threads"),
        py::arg("repeats"), py::arg("dtype") = "", py::arg("op") = "", py::arg("additions") = 0,
        py::arg("shifted") = 0, py::arg("equal") = 1, py::arg("row") = 0, py::arg("columns") = 0,
        py::arg("pitch") = 0, py::arg("step_bytes") = kStepBytes, py::arg("asks") = false,
        "Seconds of one pass that reads two buffers (or one: second=0) and writes one (or none: "
        "target=0), `asks`: prefetching; with a dtype, one that also does an operator's arithmetic "
        "in float. Pooling: `additions` per four elements of the target, `shifted` of them of "
        "neighbours in a vector; `equal` elements are rounded once. Batch normalisation: rows of "
        "`row` elements are added up by themselves. Softmax: of each buffer `step_bytes` are read "
        "before they are written; with a pitch, as strips of `columns` of rows that are `pitch` "
        "elements apart.");
}

}  // namespace ascend_grad::bench
