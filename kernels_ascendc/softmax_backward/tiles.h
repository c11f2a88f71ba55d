// What the traversals have in common: memory, conversions, the two steps of the formula.
#pragma once

#include "ops/softmax_backward/tiling.h"
#include "softmax_backward/arithmetic.h"

namespace kernels {

#if __CCE_AICORE__ == 220
template <typename T>
constexpr RoundMode kNarrowing = RoundMode::CAST_RINT;
#else
template <typename T>
constexpr RoundMode kNarrowing = RoundMode::CAST_NONE;  // to nearest even as well
#endif

template <typename T>
constexpr bool kIsFloat = std::is_same<T, float>::value;

struct SoftmaxPointers {
    GM_ADDR grad_output;
    GM_ADDR output;
    GM_ADDR out;
    GM_ADDR workspace;
};

// The groups of items that fall to this block's team.
struct TeamShare {
    int64_t first, last;
    __aicore__ TeamShare(const SoftmaxBackwardTiling& t, int64_t teams, int64_t team) {
        first = t.groups * team / teams * t.items_per_group;
        last = t.groups * (team + 1) / teams * t.items_per_group;
        if (last > t.items) last = t.items;
    }
};

// Elements before the first multiple of 512 bytes, where copies begin best; 0 if the rest of a run
// of `count` elements from `at` on, of which the first are skipped, need not, or cannot, be copied
// apart.
template <typename T>
__aicore__ inline uint32_t uneven_begin(uint64_t at, uint32_t count, uint32_t skipped) {
    constexpr uint32_t kEvenBytes = 512;
    const auto odd = static_cast<uint32_t>((at + skipped) * sizeof(T) % kEvenBytes);
    const uint32_t begin = skipped + (kEvenBytes - odd) / static_cast<uint32_t>(sizeof(T));
    return odd == 0 || at * sizeof(T) % kBlockBytes != 0 || count < 2 * begin ? 0 : begin;
}

// `queued`: tiles that may be on their way at a time.
template <typename T, typename U, int32_t queued = 1>
class SoftmaxTiles {
  public:
    __aicore__ SoftmaxTiles(TPipe& pipe, const SoftmaxPointers& pointers,
                            const SoftmaxBackwardTiling& tiling)
        : t_(tiling) {
        grad_.SetGlobalBuffer((__gm__ T*)pointers.grad_output);
        output_.SetGlobalBuffer((__gm__ T*)pointers.output);
        out_.SetGlobalBuffer((__gm__ U*)pointers.out);
        pipe.InitBuffer(inputs_, static_cast<uint8_t>(t_.input_buffers),
                        2 * t_.buffer * static_cast<uint32_t>(sizeof(T)));
        pipe.InitBuffer(results_, 2, (t_.buffer + kHead) * static_cast<uint32_t>(sizeof(U)));
        pipe.InitBuffer(tail_buffer_, kTailBytes);
        tail_ = tail_buffer_.template Get<U>();
    }

  protected:
    // Elements: whole blocks of every tensor.
    static constexpr uint32_t kGroup = kBlock<T> > kBlock<U> ? kBlock<T> : kBlock<U>;
    static constexpr uint32_t kHead = __CCE_AICORE__ == 220 ? kGroup : 0;  // behind a result

    // A tile's grad_output begins at 0, its output at t_.buffer.
    using Inputs = LocalTensor<T>;

    // `wide[0]` or the tile itself: `count` elements as floats.
    __aicore__ LocalTensor<float> widened(const LocalTensor<T>& tile,
                                          const LocalTensor<float>& wide, uint32_t count) {
        if constexpr (kIsFloat<T>) {
            return tile;
        } else {
            Cast(wide, tile, RoundMode::CAST_NONE, count);
            return wide;
        }
    }

    // to = difference * output, rounded.
    __aicore__ void finish(const LocalTensor<U>& to, const LocalTensor<float>& difference,
                           const LocalTensor<float>& output, uint32_t count) {
        if constexpr (kIsFloat<U>) {
            Mul(to, difference, output, static_cast<int32_t>(count));
        } else {
            Mul(difference, difference, output, static_cast<int32_t>(count));
            Cast(to, difference, kNarrowing<U>, count);
        }
    }

    // Not the first `skipped` elements, fewer than kGroup; `at` begins a block then.
    __aicore__ void load_run(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint64_t at,
                             uint32_t count, uint32_t skipped = 0) {
        const uint32_t begin = uneven_begin<T>(at, count, skipped);
        const uint32_t block = skipped / kBlock<T> * kBlock<T>;
        load(to[block], from[at + skipped], (begin > 0 ? begin : count) - skipped, skipped - block);
        if (begin > 0) load(to[begin], from[at + begin], count - begin);
    }
    // Likewise, of a result whose first block pack_head() has taken if elements are skipped.
    __aicore__ void store_run(uint64_t at, const LocalTensor<U>& from, uint32_t count,
                              uint32_t skipped = 0) {
        if (skipped > 0) {
            const uint32_t head = at_most(count, kGroup);
            store_head(at + skipped, from, head - skipped);
            if (head < count) store_run(at + head, from[head], count - head);
            return;
        }
        const uint32_t begin = uneven_begin<U>(at, count, 0);
        if (begin > 0) store(out_[at], from, begin, tail_);
        store_end(at + begin, from[begin], count - begin);
    }

    // As store(), with the vector unit where that takes the scalar unit for the last block.
    __aicore__ void store_end(uint64_t at, const LocalTensor<U>& from, uint32_t count) {
#if __CCE_AICORE__ != 220
        const uint32_t whole = count / kBlock<U> * kBlock<U>;
        if (whole > 0 && whole < count) {
            // The last 32 bytes, brought onto a block as rows of lanes.
            wait_for<HardEvent::MTE3_V>();
            const LocalTensor<half> data = from.template ReinterpretCast<half>();
            const LocalTensor<half> tail = tail_.template ReinterpretCast<half>();
            const LocalTensor<half> rows = tail[kLanes * kLanes];
            const uint32_t first = count * static_cast<uint32_t>(sizeof(U) / sizeof(half)) - kLanes;
            interleave_16bit(rows, data[first / kLanes * kLanes], 2 * kLanes, 0);
            deinterleave_16bit(tail, rows[first % kLanes * kLanes], kLanes, kLanes);
            wait_for<HardEvent::V_MTE3>();
            DataCopy(out_[at], from, whole);
            PipeBarrier<PIPE_MTE3>();
            DataCopy(out_[at + count - kBlock<U>], tail_, kBlock<U>);
            return;
        }
#endif
        store(out_[at], from, count, tail_);
    }

    // As store_rows(), with the vector unit where that takes the scalar unit for the last block.
    __aicore__ void store_all(uint64_t at, const LocalTensor<U>& from, uint32_t rows,
                              uint32_t count, uint64_t pitch, uint32_t from_pitch) {
        if (__CCE_AICORE__ == 220 || count % kBlock<U> == 0) {
            store_rows(out_[at], from, rows, count, pitch, from_pitch, tail_);
            return;
        }
        for (uint32_t row = 0; row < rows; ++row) {
            if (row > 0) order_stores();
            store_end(at + row * pitch, from[row * from_pitch], count);
        }
    }

    // Where the first `skipped` elements of a block are another core's or plane's, the others are
    // packed behind the result and stored from there, to `at`.
    __aicore__ void pack_head([[maybe_unused]] const LocalTensor<U>& result,
                              [[maybe_unused]] uint32_t place, [[maybe_unused]] uint32_t skipped) {
#if __CCE_AICORE__ == 220
        using Bits = typename std::conditional<kIsFloat<U>, uint32_t, uint16_t>::type;
        const LocalTensor<Bits> bits = tail_buffer_.template Get<Bits>();
        Duplicate(bits, static_cast<Bits>(~0u << skipped), 1);
        uint64_t packed = 0;
        GatherMask(result[t_.buffer].template ReinterpretCast<Bits>(),
                   result[place].template ReinterpretCast<Bits>(), bits, true, kGroup,
                   GatherMaskParams(1, 1, 8, 8), packed);
#endif
    }
    __aicore__ void store_head(uint64_t at, const LocalTensor<U>& result, uint32_t count) {
        store(out_[at], result[t_.buffer], count, tail_);
    }

    // Tiles may meet in a block, which those products store as a whole.
    __aicore__ void order_stores() {
#if __CCE_AICORE__ != 220
        PipeBarrier<PIPE_MTE3>();
#endif
    }

    const SoftmaxBackwardTiling t_;
    GlobalTensor<T> grad_, output_;
    GlobalTensor<U> out_;
    TQue<TPosition::VECIN, queued> inputs_;
    TQue<TPosition::VECOUT, 1> results_;
    // A block, or one per lane and what is transposed to them.
    static constexpr uint32_t kTailBytes =
        __CCE_AICORE__ == 220 ? kBlockBytes : 3 * kLanes * kBlockBytes;
    TBuf<TPosition::VECCALC> tail_buffer_;
    LocalTensor<U> tail_;
};

}  // namespace kernels
