#pragma once

#include "softmax_backward/tiles.h"

namespace kernels {

// Small planes: a lane holds `tile` of them, sixteen lanes make a tile. A row of lanes is one
// element of sixteen planes, so that sums and differences are between whole blocks.
template <typename T, typename U>
class SoftmaxLanes : SoftmaxTiles<T, U, 2> {
    using Base = SoftmaxTiles<T, U, 2>;
    using Base::grad_;
    using Base::inputs_;
    using Base::out_;
    using Base::output_;
    using Base::results_;
    using Base::t_;

  public:
    __aicore__ SoftmaxLanes(TPipe& pipe, const SoftmaxPointers& pointers,
                            const SoftmaxBackwardTiling& tiling)
        : Base(pipe, pointers, tiling),
          inner_(static_cast<uint32_t>(tiling.inner)),
          plane_(static_cast<uint32_t>(tiling.length * tiling.inner)),
          share_(tiling, GetBlockNum(), GetBlockIdx()),
          next_(share_.first) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(grads_, floats);
        pipe.InitBuffer(outputs_, floats);
        pipe.InitBuffer(products_, floats);
    }

    __aicore__ void run() {
        fetch();
        for (int64_t plane = share_.first; plane < share_.last;) {
            const uint32_t planes = planes_from(plane);
            fetch();
            tile(plane, planes);
            plane += planes;
        }
    }

  private:
    __aicore__ uint32_t planes_from(int64_t plane) const {
        const uint32_t at_once = kLanes * t_.tile;
        const int64_t left = share_.last - plane;
        return left < at_once ? static_cast<uint32_t>(left) : at_once;
    }

    // Loads the next tile, one ahead of that which is worked on.
    __aicore__ void fetch() {
        if (next_ >= share_.last) return;
        const uint32_t planes = planes_from(next_);
        const uint64_t at = static_cast<uint64_t>(next_) * plane_;
        LocalTensor<T> x = inputs_.template AllocTensor<T>();
        if (planes < kLanes * t_.tile) {
            // Lanes that stay empty are computed as well.
            Duplicate(x, static_cast<T>(0), static_cast<int32_t>(2 * t_.buffer));
            wait_for<HardEvent::V_MTE2>();
        }
        load_planes(x, grad_[at], planes);
        load_planes(x[t_.buffer], output_[at], planes);
        inputs_.EnQue(x);
        next_ += planes;
    }

    __aicore__ uint32_t lane_length() const { return t_.tile * plane_; }

    // What follows a lane's planes, up to the pitch, is not loaded but computed as well.
    __aicore__ void clear_ends(const LocalTensor<T>& x) {
        const uint32_t first = t_.pitch - kLanes;
        uint64_t mask[2] = {(0xffffull << (lane_length() - first)) & 0xffff, 0};
        Duplicate(x[first], static_cast<T>(0), mask, static_cast<uint8_t>(kLanes), 1,
                  static_cast<uint8_t>(t_.pitch / kBlock<T>));
    }

    __aicore__ void load_planes(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                uint32_t planes) {
        if (lane_length() == t_.pitch) {
            load(to, from, planes * plane_);
            return;
        }
        const uint32_t lanes = planes / t_.tile, rest = planes % t_.tile;
        if (lanes > 0) load_rows(to, from, lanes, lane_length(), lane_length(), t_.pitch);
        if (rest > 0) load(to[lanes * t_.pitch], from[lanes * lane_length()], rest * plane_);
    }

    __aicore__ void store_planes(uint64_t at, const LocalTensor<U>& from, uint32_t planes) {
        if (lane_length() == t_.pitch) {
            this->store_end(at, from, planes * plane_);
            return;
        }
        const uint32_t lanes = planes / t_.tile, rest = planes % t_.tile;
        if (lanes > 0) {
            this->store_all(at, from, lanes, lane_length(), lane_length(), t_.pitch);
        }
        if (rest == 0) return;
        this->order_stores();
        this->store_end(at + lanes * lane_length(), from[lanes * t_.pitch], rest * plane_);
    }

    __aicore__ void to_lanes(const LocalTensor<float>& to, const LocalTensor<T>& from,
                             const LocalTensor<float>& scratch) {
        if constexpr (kIsFloat<T>) {
            interleave(to, from, t_.pitch, t_.pitch, scratch);
        } else {
            const LocalTensor<half> lanes = scratch.ReinterpretCast<half>();
            interleave_16bit(lanes, from.template ReinterpretCast<half>(), t_.pitch, t_.pitch);
            Cast(to, lanes.template ReinterpretCast<T>(), RoundMode::CAST_NONE, t_.buffer);
        }
    }

    __aicore__ void from_lanes(const LocalTensor<U>& to, const LocalTensor<float>& from,
                               const LocalTensor<float>& scratch) {
        if constexpr (kIsFloat<U>) {
            deinterleave(to, from, t_.pitch, t_.pitch, scratch);
        } else {
            const LocalTensor<U> lanes = scratch.ReinterpretCast<U>();
            Cast(lanes, from, kNarrowing<U>, t_.buffer);
            deinterleave_16bit(to.template ReinterpretCast<half>(),
                               lanes.template ReinterpretCast<half>(), t_.pitch, t_.pitch);
        }
    }

    __aicore__ void tile(int64_t plane, uint32_t planes) {
        const uint64_t at = static_cast<uint64_t>(plane) * plane_;
        LocalTensor<T> x = inputs_.template DeQue<T>();
        const uint32_t short_lane = planes / t_.tile * t_.pitch;
        clear_rest(x[short_lane], planes % t_.tile * plane_);
        clear_rest(x[t_.buffer + short_lane], planes % t_.tile * plane_);
        if (lane_length() != t_.pitch) {
            clear_ends(x);
            clear_ends(x[t_.buffer]);
        }
        const LocalTensor<float> grad = grads_.template Get<float>();
        const LocalTensor<float> output = outputs_.template Get<float>();
        const LocalTensor<float> products = products_.template Get<float>();
        to_lanes(grad, x, products);
        to_lanes(output, x[t_.buffer], products);
        inputs_.FreeTensor(x);
        const auto count = static_cast<int32_t>(t_.buffer);
        Mul(products, grad, output, count);
        fold_rows(products, t_.tile, plane_ * kLanes, inner_ * kLanes, plane_ * kLanes);
        subtract_sums(grad, products);
        Mul(grad, grad, output, count);
        LocalTensor<U> result = results_.template AllocTensor<U>();
        from_lanes(result, grad, products);
        results_.EnQue(result);
        LocalTensor<U> done = results_.template DeQue<U>();
        this->order_stores();
        store_planes(at, done, planes);
        results_.FreeTensor(done);
    }

    // Each plane's sums stand at its begin: one row of lanes per column.
    __aicore__ void subtract_sums(const LocalTensor<float>& data, const LocalTensor<float>& sums) {
        const uint32_t row = inner_ * kLanes, plane = plane_ * kLanes;
        const uint32_t row_blocks = row / kFloatsPerBlock, plane_blocks = plane / kFloatsPerBlock;
        if (plane_blocks > kMaxStride) {
            for (uint32_t p = 0; p < t_.tile; ++p) {
                subtract_vector(data[p * plane], sums[p * plane], plane / row, row, row);
            }
            return;
        }
        // The same block of eight rows, in all planes.
        const auto block_step = static_cast<uint8_t>(row_blocks);
        const auto step = static_cast<uint8_t>(plane_blocks);
        const BinaryRepeatParams params(block_step, block_step, 0, step, step, step);
        for (uint32_t p = 0; p < t_.tile; p += kMaxRepeat) {
            const auto repeats = static_cast<uint8_t>(at_most(t_.tile - p, kMaxRepeat));
            for (uint32_t i = 0; i < plane; i += 8 * row) {
                const uint64_t mask = at_most((plane - i) / row, 8) * kFloatsPerBlock;
                for (uint32_t c = 0; c < row; c += kFloatsPerBlock) {
                    const LocalTensor<float> target = data[p * plane + i + c];
                    Sub(target, target, sums[p * plane + c], mask, repeats, params);
                }
            }
        }
    }

    const uint32_t inner_, plane_;
    const TeamShare share_;
    int64_t next_;  // plane to load
    TBuf<TPosition::VECCALC> grads_, outputs_, products_;
};

}  // namespace kernels
