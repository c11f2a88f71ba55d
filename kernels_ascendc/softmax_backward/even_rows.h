#pragma once

#include "ops/softmax_backward/tiling.h"
#include "softmax_backward/arithmetic.h"

namespace kernels {

// Rows of a strip that begin anywhere in memory. Each is copied by itself: from its first multiple
// of 512 bytes on, and what lies before that apart. For products that copy bytes.
template <typename T, typename U>
class EvenRows {
  public:
    // `inner` elements from row to row in memory.
    __aicore__ EvenRows(TPipe& pipe, const SoftmaxBackwardTiling& tiling)
        : inner_(static_cast<uint64_t>(tiling.inner)), pitch_(tiling.pitch) {
        if (tiling.rows_apart == 0) return;
        const uint32_t bytes = round_up(pitch_ / 8, kBlockBytes);
        pipe.InitBuffer(bits_, bytes);
        const auto words = static_cast<int32_t>(bytes / sizeof(Bits));
        Duplicate(bits_.template Get<Bits>(), static_cast<Bits>(~0u), words);
    }

    // The first row begins at element `at` in memory.
    __aicore__ void load(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint64_t at,
                         uint32_t rows, uint32_t columns) const {
        for (uint32_t r = 0; r < rows; ++r) {
            const uint64_t begin = at + r * inner_;
            const uint32_t head = head_of<T>(begin, columns), skipped = head % kBlock<T>;
            if (head == columns) continue;
            kernels::load(to[r * pitch_ + head - skipped], from[begin + head], columns - head,
                          skipped);
        }
        PipeBarrier<PIPE_MTE2>();
        // Up to the end of its last block, which that copy has left undefined at its begin.
        for (uint32_t r = 0; r < rows; ++r) {
            const uint64_t begin = at + r * inner_;
            const uint32_t head = head_of<T>(begin, columns);
            if (head == 0) continue;
            kernels::load(to[r * pitch_], from[begin], at_most(round_up(head, kBlock<T>), columns));
        }
    }

    // result = the rows of `from`, for store(): after the head, the rest from a block on.
    __aicore__ void pack([[maybe_unused]] const LocalTensor<U>& result,
                         [[maybe_unused]] const LocalTensor<U>& from, [[maybe_unused]] uint64_t at,
                         [[maybe_unused]] uint32_t rows, [[maybe_unused]] uint32_t columns) {
#if __CCE_AICORE__ == 220
        const LocalTensor<Bits> bits = bits_.template Get<Bits>();
        for (uint32_t r = 0; r < rows; ++r, at += inner_) {
            const uint32_t head = head_of<U>(at, columns), skipped = head % kBlock<U>;
            const LocalTensor<U> row = from[r * pitch_], to = result[r * pitch_];
            if (head > 0) DataCopy(to, row, round_up(head, kBlock<U>));
            if (head == columns) continue;
            Duplicate(bits, static_cast<Bits>(~0u << skipped), 1);
            uint64_t packed = 0;
            GatherMask(to[round_up(head, kBlock<U>)].template ReinterpretCast<Bits>(),
                       row[head - skipped].template ReinterpretCast<Bits>(), bits, true,
                       skipped + columns - head, GatherMaskParams(1, 1, 8, 8), packed);
        }
#endif
    }
    __aicore__ void store(const GlobalTensor<U>& to, uint64_t at, const LocalTensor<U>& result,
                          uint32_t rows, uint32_t columns, const LocalTensor<U>& tail) const {
        for (uint32_t r = 0; r < rows; ++r, at += inner_) {
            const uint32_t head = head_of<U>(at, columns);
            const LocalTensor<U> row = result[r * pitch_];
            if (head > 0) kernels::store(to[at], row, head, tail);
            if (head == columns) continue;
            kernels::store(to[at + head], row[round_up(head, kBlock<U>)], columns - head, tail);
        }
    }

  private:
    using Bits = typename std::conditional<sizeof(U) == 4, uint32_t, uint16_t>::type;

    // Elements before the first multiple of 512 bytes.
    template <typename X>
    __aicore__ static uint32_t head_of(uint64_t at, uint32_t columns) {
        constexpr uint32_t kEven = 512 / sizeof(X);
        return at_most(static_cast<uint32_t>((kEven - at % kEven) % kEven), columns);
    }

    const uint64_t inner_;
    const uint32_t pitch_;
    TBuf<TPosition::VECCALC> bits_;  // ones, but for the first word
};

}  // namespace kernels
