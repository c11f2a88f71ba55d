// Limit kernels that convert what they move, compiled once per instruction set level: what the
// operators' arithmetic costs at least.
#include "isa/stream.h"
#include "traffic.h"

namespace ascend_grad::bench {
namespace {

// Makes the compiler compute a value anew.
AG_INLINE void renew(LanePair& x) {
    AG_EACH_REGISTER asm("" : "+m"(x.low.r[i]), "+m"(x.high.r[i]));
}

template <class T>
AG_INLINE void put(T* to, LanePair x, bool stream) {
    if (stream) {
        stream_store_pair(to, x);
    } else {
        store_pair(to, x);
    }
}

template <class T>
AG_INLINE void combine(const T* first, const T* second, T* target, int64_t n, bool stream) {
    for (int64_t i = 0; i < n; i += kPairLanes) {
        const LanePair x = load_pair(first + i);
        put(target + i, second == nullptr ? x * x : x * load_pair(second + i), stream);
    }
}

// As softmax does, a share being a row: output * (grad_output - sum).
template <class T>
AG_INLINE void combine_twice(const T* first, const T* second, T* target, int64_t n, bool stream) {
    LanePair sum{};
    for (int64_t i = 0; i < n; i += kPairLanes)
        sum = sum + load_pair(first + i) * load_pair(second + i);
    renew(sum);
    for (int64_t i = 0; i < n; i += kPairLanes)
        put(target + i, load_pair(second + i) * (load_pair(first + i) - sum), stream);
}

template <class T>
AG_INLINE LanePair add(const T* first, const T* second, int64_t n, LanePair sum) {
    LanePair other{};
    for (int64_t i = 0; i < n; i += kPairLanes) {
        sum = sum + load_pair(first + i);
        if (second != nullptr) other = other + load_pair(second + i);
    }
    return sum + other;
}

template <class T>
void convert(const Traffic& traffic, bool stream, int64_t steps, int64_t begin, int64_t end) {
    constexpr int64_t kElements = kLineBytes / static_cast<int64_t>(sizeof(T)) < kPairLanes
                                      ? kPairLanes
                                      : kLineBytes / static_cast<int64_t>(sizeof(T));
    constexpr int64_t kLines = kElements * static_cast<int64_t>(sizeof(T)) / kLineBytes;
    const T* first = reinterpret_cast<const T*>(traffic.first);
    const T* second = reinterpret_cast<const T*>(traffic.second);
    T* target = reinterpret_cast<T*>(traffic.target);
    const int64_t sources = traffic.source_lines / kLines;  // whole pairs; an odd line is left out
    const int64_t targets = traffic.target_lines / kLines;
    LanePair sum{};
    for (int64_t step = begin; step < end; ++step) {
        const int64_t from = share(sources, step, steps) * kElements;
        const int64_t n = share(sources, step + 1, steps) * kElements - from;
        const T* other = second == nullptr ? nullptr : second + from;
        if (traffic.twice) {
            combine_twice(first + from, other, target + from, n, stream);
            continue;
        }
        if (sources == targets) {
            combine(first + from, other, target + from, n, stream);
            continue;
        }
        sum = add(first + from, other, n, sum);
        const int64_t last = share(targets, step + 1, steps) * kElements;
        for (int64_t i = share(targets, step, steps) * kElements; i < last; i += kElements) {
            renew(sum);
            put(target + i, sum, stream);
        }
    }
    renew(sum);
}

}  // namespace

extern const ConversionTable KERNEL_TABLE = {{convert<float>, convert<Float16>, convert<BFloat16>}};

}  // namespace ascend_grad::bench
