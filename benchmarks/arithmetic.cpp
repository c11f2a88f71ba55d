// Limit kernels that also compute, compiled once per instruction set level: what the operators'
// arithmetic costs at least, in whole vectors (softmax along a strided axis: of strips; else of
// contiguous memory), with the lanes of csrc/isa.
#include <algorithm>
#include <type_traits>

#include "isa/prefetch.h"
#include "isa/shuffle.h"
#include "isa/stream.h"
#include "traffic.h"

namespace ascend_grad::bench {
namespace {

#if defined(__AVX512F__)
#define AG_REGISTER "+v"
#elif defined(__x86_64__)
#define AG_REGISTER "+x"
#else
#define AG_REGISTER "+w"
#endif
// Makes the compiler compute a value anew.
AG_INLINE void renew(LanePair& x) {
    AG_EACH (i, kRegisters) asm("" : AG_REGISTER(x.low.r[i]), AG_REGISTER(x.high.r[i]));
}

// A step's share of the buffers.
template <class T>
struct Part {
    const T* first;
    const T* second;
    T* target;
    int64_t sources, targets;  // elements, a multiple of kPairLanes
    bool stream, asks;

    // For what is read some pairs after element i.
    AG_INLINE void ask(int64_t i) const {
        if (asks) prefetch_loads(first + i, (second != nullptr ? second : first) + i, kPairLanes);
    }
};

template <int kNumber>
using Number = std::integral_constant<int, kNumber>;
constexpr float kParameter = 0.5f;  // mean, weight or factor

// Loops keep their sums in local variables: those of the caller would be loaded and stored at every
// step.

// The sums of grad_out and of grad_out * (input - mean). Of a row, whole vectors from its first
// element on; the last one reaches into the next row.
template <int kRows, class T>
AG_INLINE int64_t batch_norm_rows(const Part<T>& part, int64_t begin, int64_t row, LanePair* sums) {
    const Lanes mean = sums[2].low;
    Lanes of_rows[2][kRows] = {};  // apart, so that sums do not wait for each other
    for (; begin + kRows * row + kLanes <= part.sources; begin += kRows * row) {
        for (int64_t i = begin; i < begin + row; i += kLanes) {
            for (int k = 0; k < kRows; ++k) {
                const Lanes dy = load(part.first + i + k * row);
                of_rows[0][k] = of_rows[0][k] + dy;
                of_rows[1][k] = of_rows[1][k] + dy * (load(part.second + i + k * row) - mean);
            }
        }
    }
    for (int k = 0; k < kRows; ++k) {
        for (int s = 0; s < 2; ++s) sums[s].low = sums[s].low + of_rows[s][k];
    }
    return begin;
}
template <class T>
AG_INLINE void batch_norm(const Part<T>& part, int64_t row, LanePair* sums) {
    const LanePair mean = sums[2];
    int64_t begin = 0;
    if (row > 0) {
        begin = batch_norm_rows<4>(part, begin, row, sums);
        begin = batch_norm_rows<1>(part, begin, row, sums);
    }
    LanePair dy_sum = sums[0], product_sum = sums[1];
    for (int64_t i = begin; i + kPairLanes <= part.sources; i += kPairLanes) {
        part.ask(i);
        const LanePair dy = load_pair(part.first + i);
        dy_sum = dy_sum + dy;
        product_sum = product_sum + dy * (load_pair(part.second + i) - mean);
    }
    sums[0] = dy_sum;
    sums[1] = product_sum;
}

// grad_output or its product with the weight, and the sum of the products with negative inputs.
template <class T>
AG_INLINE void prelu(const Part<T>& part, LanePair* sums) {
    const LanePair weight = sums[2];
    LanePair sum = sums[0];
    for (int64_t i = 0; i < part.sources; i += kPairLanes) {
        part.ask(i);
        const LanePair g = load_pair(part.first + i), x = load_pair(part.second + i);
        const LanePair weighted = weight * g, product = x * g;
        const Lanes zero{};
        store_packed_to(part.target + i,
                        pack<T>({select_positive(x.low, g.low, weighted.low),
                                 select_positive(x.high, g.high, weighted.high)}),
                        part.stream);
        sum = sum + LanePair{select_positive(x.low, zero, product.low),
                             select_positive(x.high, zero, product.high)};
    }
    sums[0] = sum;
}

// output * (grad_output - sum), the part being a row, or rows that share cache lines: read twice,
// first from memory, then from its end on.
template <class T>
AG_INLINE void softmax(const Part<T>& part) {
    LanePair sum{};
    for (int64_t i = 0; i < part.sources; i += kPairLanes) {
        part.ask(i);
        sum = sum + load_pair(part.first + i) * load_pair(part.second + i);
    }
    const Lanes total = splat(tree_sum(sum.low + sum.high));
    sum = {total, total};
    for (int64_t i = part.sources - kPairLanes; i >= 0; i -= kPairLanes) {
        store_packed_to(part.target + i,
                        pack_permuted<T>(load_permuted(part.second + i) *
                                         (load_permuted(part.first + i) - sum)),
                        part.stream);
    }
}

// The same of a strip of a plane: `rows` runs, whose columns are summed four runs at a time and
// then written from the last run on.
template <class T>
AG_INLINE void softmax_strip(const Part<T>& part, int64_t rows, const Strips& strips) {
    constexpr int kTogether = 4;
    alignas(kLineBytes) float sums[kMostColumns];
    std::fill_n(sums, strips.columns, 0.0f);
    const auto add = [&](int64_t row, auto together) AG_INLINE_LAMBDA {
        const int64_t first = row * strips.pitch;
        for (int64_t i = first; i < first + strips.columns; i += kPairLanes) {
            LanePair sum = load_pair(sums + (i - first));
            for (int k = 0; k < together; ++k) {
                const int64_t at = i + k * strips.pitch;
                sum = sum + load_pair(part.first + at) * load_pair(part.second + at);
            }
            store_raw(sums + (i - first), sum.low);
            store_raw(sums + (i - first) + kLanes, sum.high);
        }
    };
    const auto write = [&](int64_t row, auto together) AG_INLINE_LAMBDA {
        const int64_t first = row * strips.pitch;
        for (int64_t i = first; i < first + strips.columns; i += kPairLanes) {
            const LanePair sum = permuted_as<T>(load_pair(sums + (i - first)));
            for (int k = 0; k < together; ++k) {
                const int64_t at = i + k * strips.pitch;
                store_packed_to(part.target + at,
                                pack_permuted<T>(load_permuted(part.second + at) *
                                                 (load_permuted(part.first + at) - sum)),
                                part.stream);
            }
        }
    };
    const Number<1> one;
    const Number<kTogether> several;
    int64_t row = 0;
    for (; row + kTogether <= rows; row += kTogether) add(row, several);
    for (; row < rows; ++row) add(row, one);
    for (; row >= kTogether; row -= kTogether) write(row - kTogether, several);
    for (; row > 0; --row) write(row - 1, one);
}

// Step `step` of `steps`.
template <class T>
void softmax_step(const Traffic& traffic, bool stream, int64_t steps, int64_t step) {
    const Strips& strips = traffic.strips;
    const int64_t per_plane = strips.pitch / strips.columns, planes = steps / per_plane;
    const int64_t elements = traffic.source_lines * kLineBytes / static_cast<int64_t>(sizeof(T));
    const int64_t rows = elements / strips.pitch, plane = step / per_plane;
    const int64_t begin = share(rows, plane, planes);
    const int64_t at = begin * strips.pitch + step % per_plane * strips.columns;
    softmax_strip<T>({reinterpret_cast<const T*>(traffic.first) + at,
                      reinterpret_cast<const T*>(traffic.second) + at,
                      reinterpret_cast<T*>(traffic.target) + at, 0, 0, stream, false},
                     share(rows, plane + 1, planes) - begin, strips);
}

// The pairs before those at p, which the compiler is to load anew.
AG_INLINE LanePair neighbours(const float* p) {
    asm("" : "+r"(p));
    return {load_before<1>(p), load_before<1>(p + kLanes)};
}

// A quotient per window, and per element of the target the additions of the windows that cover it,
// both numbers per four elements. Elements under the same windows are rounded once.
template <class T, class Additions, class Shifted>
AG_INLINE void avg_pool(const Part<T>& part, Additions additions, Shifted shifted, int equal,
                        LanePair* sums) {
    constexpr int kTogether = 4;
    const LanePair factor = sums[2], same = sums[1];
    LanePair quotients = sums[0];
    for (int64_t i = 0; i < part.sources; i += kPairLanes) {
        part.ask(i);
        quotients = quotients + load_pair(part.first + i) * factor;
    }
    sums[0] = quotients;
    const int64_t step = kPairLanes * equal;
    alignas(kLineBytes) const float row[2 * kPairLanes] = {};
    LanePair x[kTogether];
    const auto add = [&](int count, const auto& operand) AG_INLINE_LAMBDA {
        const int rest = count % kTogether;
        for (int k = rest; k < count; k += kTogether) {
            for (LanePair& each : x) each = each + operand();
        }
        for (int k = 0; k < rest; ++k) x[k] = x[k] + operand();
    };
    for (int64_t i = 0; i < part.targets;) {
        for (LanePair& each : x) {
            each = quotients;
            renew(each);
        }
        add(additions - shifted, [&]() AG_INLINE_LAMBDA { return same; });
        add(shifted, [&]() AG_INLINE_LAMBDA { return neighbours(row + kPairLanes); });
        for (int k = 0; k < kTogether && i < part.targets; ++k, i += step) {
            renew(x[k]);
            const auto packed = pack<T>(x[k]);
            for (int64_t j = i; j < i + step && j < part.targets; j += kPairLanes)
                store_packed_to(part.target + j, packed, part.stream);
        }
    }
}
// Of windows 1, 2, 3 or 5 columns wide that lie side by side or one or two columns apart, with the
// numbers as constants: loops over them would take time of their own.
template <class T>
void avg_pool(const Part<T>& part, const Windows& windows, LanePair* sums) {
    const auto is = [&](int additions, int shifted) {
        return windows.additions == additions && windows.shifted == shifted;
    };
    const auto run = [&](auto additions, auto shifted) {
        avg_pool(part, additions, shifted, windows.equal, sums);
    };
    if (is(0, 0)) return run(Number<0>{}, Number<0>{});
    if (is(3, 2)) return run(Number<3>{}, Number<2>{});
    if (is(3, 0)) return run(Number<3>{}, Number<0>{});
    if (is(16, 8)) return run(Number<16>{}, Number<8>{});
    if (is(32, 16)) return run(Number<32>{}, Number<16>{});
    run(windows.additions, windows.shifted);
}

template <class T>
void compute(const Traffic& traffic, bool stream, int64_t steps, int64_t begin, int64_t end) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    constexpr int64_t kElements = kLineBytes / kSize < kPairLanes ? kPairLanes : kLineBytes / kSize;
    constexpr int64_t kLines = kElements * kSize / kLineBytes;
    const int64_t sources = traffic.source_lines / kLines;  // whole pairs; an odd line is left out
    const int64_t targets = traffic.target_lines / kLines;
    LanePair sums[3] = {{}, {}, {splat(kParameter), splat(kParameter)}};
    for (LanePair& sum : sums) renew(sum);
    for (int64_t step = begin; step < end; ++step) {
        if (traffic.strips.pitch > 0) {
            softmax_step<T>(traffic, stream, steps, step);
            continue;
        }
        const int64_t from = share(sources, step, steps) * kElements;
        const int64_t to = share(targets, step, steps) * kElements;
        Part<T> part{reinterpret_cast<const T*>(traffic.first) + from,
                     reinterpret_cast<const T*>(traffic.second),
                     reinterpret_cast<T*>(traffic.target) + to,
                     share(sources, step + 1, steps) * kElements - from,
                     share(targets, step + 1, steps) * kElements - to,
                     stream,
                     traffic.asks};
        if (part.second != nullptr) part.second += from;
        switch (traffic.arithmetic) {
            case Arithmetic::kBatchNorm:
                batch_norm(part, traffic.row, sums);
                break;
            case Arithmetic::kPrelu:
                prelu(part, sums);
                break;
            case Arithmetic::kSoftmax:
                softmax(part);
                break;
            case Arithmetic::kAvgPool:
                avg_pool(part, traffic.windows, sums);
                break;
            case Arithmetic::kNone:
                break;
        }
    }
    for (LanePair& sum : sums) renew(sum);
}

}  // namespace

const Mover KERNELS::movers[3] = {compute<float>, compute<Float16>, compute<BFloat16>};

}  // namespace ascend_grad::bench
