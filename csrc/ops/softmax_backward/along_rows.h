// Rows, or chunks of a row, whose elements follow each other in memory; of the inputs, every
// element or every second one.
#pragma once

#include "isa/channel_sum_rows.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

// Two contiguous inputs.
template <class T>
struct Inputs {
    const T* g;
    const T* y;
};

template <int kStep, class T>
AG_INLINE LanePair pair_products(const Inputs<T>& in, int i) {
    return load_pair_of<kStep>(in.g, i) * load_pair_of<kStep>(in.y, i);
}
template <int kStep, class T>
AG_INLINE Lanes products(const Inputs<T>& in, int i) {
    return load_of<kStep>(in.g, i) * load_of<kStep>(in.y, i);
}
template <int kStep, class T>
AG_INLINE Lanes first_products(const Inputs<T>& in, int i, int n) {
    return load_first_of<kStep>(in.g, i, n) * load_first_of<kStep>(in.y, i, n);
}

// The sum of grad_output * output over n elements.
template <int kStep, class T>
inline float sum_products(const Inputs<T>& in, int n) {
    constexpr int kBeyond = kStep - 1;  // elements that must exist after a whole load's last one
    Lanes sum{};
    int i = 0;
    for (; i + kPairLanes + kBeyond <= n; i += kPairLanes) {
        const LanePair product = pair_products<kStep>(in, i);
        sum = (sum + product.low) + product.high;
    }
    for (; i + kLanes + kBeyond <= n; i += kLanes) sum = sum + products<kStep>(in, i);
    if (i < n) sum = sum + first_products<kStep>(in, i, n - i);
    return tree_sum(sum);
}

// out = output * (grad_output - sum) of n elements; returns sum_products() of as many others, whose
// loads overlap these stores, or 0 if !kSums. Streams to whole 64-byte lines only.
template <int kStep, bool kSums, class T, class U>
inline float write_and_sum(const Inputs<T>& in, float of_these, U* out, bool streams,
                           const Inputs<T>& next, int n) {
    constexpr int kBeyond = kStep - 1;
    const Lanes s = splat(of_these);
    const LanePair both = {s, s};
    Lanes sum{};
    int i = 0;
    for (; i + kPairLanes + kBeyond <= n; i += kPairLanes) {
        const LanePair value = load_pair_of<kStep>(in.y, i) * (load_pair_of<kStep>(in.g, i) - both);
        if (streams) {
            stream_store_pair(out + i, value);
        } else {
            store_pair(out + i, value);
        }
        if (!kSums) continue;
        const LanePair product = pair_products<kStep>(next, i);
        sum = (sum + product.low) + product.high;
    }
    for (; i + kLanes + kBeyond <= n; i += kLanes) {
        store(out + i, load_of<kStep>(in.y, i) * (load_of<kStep>(in.g, i) - s));
        if (kSums) sum = sum + products<kStep>(next, i);
    }
    if (i < n) {
        const int rest = n - i;
        store_first(out + i,
                    load_first_of<kStep>(in.y, i, rest) * (load_first_of<kStep>(in.g, i, rest) - s),
                    rest);
        if (kSums) sum = sum + first_products<kStep>(next, i, rest);
    }
    return kSums ? tree_sum(sum) : 0.0f;
}

}  // namespace
}  // namespace ascend_grad
