// Gradients where one window covers whole planes: its quotient everywhere.
#pragma once

#include "avg_pool2d_backward/divisors.h"

namespace kernels {

template <typename T>
class PoolFill : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::planes_;
    using Base::t_;

  public:
    __aicore__ inline PoolFill(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe), divisors_(tiling, 1, pipe) {}

    __aicore__ inline void run() {
        const uint32_t window_plane = static_cast<uint32_t>(t_.grad_height * t_.grad_width);
        const uint32_t plane = static_cast<uint32_t>(t_.height * t_.width);
        while (this->next_run()) {
            this->next_rows(t_.height);
            const uint32_t windows = this->take(0).columns;
            divisors_.divide_all(this->grads_, windows);
            PipeBarrier<PIPE_V>();
            this->narrow(this->grads_.template ReinterpretCast<T>(), this->grads_,
                         round_up(windows, kLanes));
            PipeBarrier<PIPE_V>();
            spread(plane, window_plane);
            LanesShape shape = this->tile_shape();
            shape.columns = static_cast<uint32_t>(planes_) * plane;
            shape.lane_elements = round_up(shape.columns, kLanes);
            // The transposition takes whole steps of positions.
            const uint32_t rest = (shape.lane_elements - shape.columns) * kBlocks;
            if (rest > 0)
                Duplicate(
                    this->lanes_.template ReinterpretCast<half>()[shape.columns * kBlocks * kLanes],
                    static_cast<half>(0.0f), static_cast<int32_t>(rest * kLanes));
            this->store(shape, shape.lane_elements);
        }
    }

  private:
    static constexpr uint32_t kBlocks = kLanes * sizeof(T) / kBlockBytes;  // of a position
    static constexpr uint32_t kBlockWords = kBlockBytes / sizeof(uint16_t);
    static constexpr uint32_t kAtOnce = 8;  // positions of a repeat

    // Position p * plane + i, i < plane, of lanes_ = position p * window_plane of grads_.
    __aicore__ inline void spread(uint32_t plane, uint32_t window_plane) {
        const uint32_t planes = static_cast<uint32_t>(planes_);
        const uint32_t to_repeat = plane * kBlocks, from_repeat = window_plane * kBlocks;
        if (to_repeat <= kMaxRepeat && from_repeat <= kMaxRepeat && planes > plane / kMaxRepeat) {
            for (uint32_t at = 0; at < plane; at += kAtOnce) {
                const uint32_t left = plane - at;
                copy(at, 0, left < kAtOnce ? left : kAtOnce, planes, to_repeat, from_repeat);
            }
            return;
        }
        for (uint32_t p = 0; p < planes; ++p) {
            const uint32_t whole = plane / kAtOnce, rest = plane % kAtOnce;
            copy(p * plane, p * window_plane, kAtOnce, whole, kAtOnce * kBlocks, 0);
            if (rest > 0) copy(p * plane + whole * kAtOnce, p * window_plane, rest, 1, 0, 0);
        }
    }
    // `repeats` times: `positions` positions from `to` on = that at `from`. Bit by bit.
    __aicore__ inline void copy(uint32_t to, uint32_t from, uint32_t positions, uint32_t repeats,
                                uint32_t to_repeat, uint32_t from_repeat) {
        const LocalTensor<uint16_t> target = this->lanes_.template ReinterpretCast<uint16_t>();
        const LocalTensor<uint16_t> source = this->grads_.template ReinterpretCast<uint16_t>();
        const uint64_t mask = positions * kBlockWords;
        const BinaryRepeatParams params(kBlocks, 0, 0, static_cast<uint8_t>(to_repeat),
                                        static_cast<uint8_t>(from_repeat),
                                        static_cast<uint8_t>(from_repeat));
        for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
            const uint32_t left = repeats - done;
            for (uint32_t side = 0; side < kBlocks; ++side) {
                const uint32_t to_at = to * kBlocks + done * to_repeat + side;
                const uint32_t from_at = from * kBlocks + done * from_repeat + side;
                Or(target[to_at * kBlockWords], source[from_at * kBlockWords],
                   source[from_at * kBlockWords], mask,
                   static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat), params);
            }
        }
    }

    PoolDivisors<Base::kIsNarrow> divisors_;
};

}  // namespace kernels
