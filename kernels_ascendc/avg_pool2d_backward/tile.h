// What the traversals of AvgPool2dBackward share: the way of a tile's lanes from and to global
// memory.
#pragma once

#include "avg_pool2d_backward/geometry.h"
#include "avg_pool2d_backward/rounding.h"

namespace kernels {

template <typename T>
class PoolTile : protected PoolGeometry<T> {
    using Base = PoolGeometry<T>;

  protected:
    using Base::columns_;
    using Base::is_last_;
    using Base::rows_;
    using Base::t_;
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    enum Mode : uint32_t { kFloat32, kFloat16, kHf32 };
    using Buffer = TBuf<TPosition::VECCALC>;

    __aicore__ inline PoolTile(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(tiling) {
        grad_output_.SetGlobalBuffer((__gm__ T*)grad_output);
        grad_input_.SetGlobalBuffer((__gm__ T*)grad_input);
        pipe.InitBuffer(loads_, 2, kLanes * t_.grad_elements * sizeof(T));
        pipe.InitBuffer(stores_, static_cast<uint8_t>(t_.store_buffers),
                        kLanes * t_.tile_elements * sizeof(T));
        const uint32_t positions = lane_positions();
        lanes_ = floats(pipe, lanes_buffer_, positions);
        // What a short last lane lacks, and what follows a lane's elements, stays as it is here.
        fill(lanes_, 0.0f, positions);
        if (kIsNarrow || t_.mode == kFloat16) {
            pipe.InitBuffer(narrow_buffer_, positions * kLanes * sizeof(half));
            Duplicate(narrow_buffer_.Get<half>(), static_cast<half>(0.0f),
                      static_cast<int32_t>(positions * kLanes));
        }
        if (t_.mode == kHf32) pipe.InitBuffer(rounding_buffer_, kHf32Bytes);
        pipe.InitBuffer(tail_buffer_, kBlockBytes);
#if __CCE_AICORE__ == 100
        if (!kIsNarrow) scratch_ = floats(pipe, scratch_buffer_, positions);
#endif
    }

    __aicore__ inline LocalTensor<float> floats(TPipe& pipe, Buffer& owner, uint32_t positions) {
        pipe.InitBuffer(owner, positions * kLanes * sizeof(float));
        return owner.Get<float>();
    }
    __aicore__ inline void fill(const LocalTensor<float>& to, float value, uint32_t positions) {
        if (positions > 0) Duplicate(to, value, static_cast<int32_t>(positions * kLanes));
    }

    // --- From grad_output to floats in grad_lanes().

    __aicore__ inline void load(const GradPart& part) {
        const LocalTensor<T> to = loads_.template AllocTensor<T>();
        load_lanes(to, grad_output_, this->shape_of(part));
        loads_.EnQue(to);
    }
    __aicore__ inline LocalTensor<float> grad_lanes() {
        return lanes_[t_.held_elements * kLanes];
    }
    __aicore__ inline void widen(const GradPart& part) {
        LocalTensor<T> from = loads_.template DeQue<T>();
        const LanesShape shape = this->shape_of(part);
        const uint32_t elements = shape.rows == 1 ? shape.columns : shape.rows * shape.row_pitch;
        // The short lane, if any, takes part as far as it goes.
        const uint32_t end = round_up(elements, kBlock<T>);
        const uint32_t rest = static_cast<uint32_t>(least(round_up(shape.rest, kLengthStep), end));
        if (rest > 0) {
            const LocalTensor<T> last = from[shape.lanes * t_.grad_elements];
            clear_rest(last, shape.rest);
            const uint32_t loaded = round_up(shape.rest, kBlock<T>);
            if constexpr (!kIsNarrow) {
                if (rest > loaded)
                    Duplicate(last[loaded], 0.0f, static_cast<int32_t>(rest - loaded));
            }
            PipeBarrier<PIPE_V>();
            interleave_part(from, 0, rest, shape.lanes + 1);
        }
#if __CCE_AICORE__ == 100
        // Here rows of lanes are transposed once more; few lanes may all lie at the tensor's end.
        if (shape.lanes > 0) {
            clear_rest(from, elements);
            PipeBarrier<PIPE_V>();
        }
#endif
        if (shape.lanes > 0) interleave_part(from, rest, end, shape.lanes);
        loads_.FreeTensor(from);
        PipeBarrier<PIPE_V>();
        const uint32_t count = round_up(elements, kLanes) * kLanes;
        if constexpr (kIsNarrow) {
            Cast(grad_lanes(), narrow_buffer_.Get<T>(), RoundMode::CAST_NONE, count);
        } else {
            if (t_.mode == kFloat16)
                round_to_float16(grad_lanes(), narrow_buffer_.Get<half>(), count);
#if __CCE_AICORE__ == 220
            if (t_.mode == kHf32)
                round_to_hf32(grad_lanes(), rounding_buffer_.Get<int32_t>(), count);
#endif
        }
        PipeBarrier<PIPE_V>();
    }

    // --- From floats in tile_lanes() to grad_input.

    __aicore__ inline LocalTensor<float> tile_lanes() {
        return lanes_[held_ * kLanes];
    }
    // Stores what ends at a multiple of 512 bytes; the rest waits for the tile below.
    __aicore__ inline void store_tile() {
        const uint64_t plane = static_cast<uint64_t>(t_.height * t_.width);
        const uint32_t rows = static_cast<uint32_t>(rows_.end - rows_.begin);
        LanesShape shape;
        this->set_lanes(shape, plane);
        shape.offset = this->first_plane() * plane +
                       static_cast<uint64_t>(rows_.begin * t_.width + columns_.begin) - held_;
        shape.lane_elements = t_.tile_elements;
        shape.row_stride = static_cast<uint64_t>(t_.width);
        shape.row_pitch = t_.tile_pitch;
        uint32_t elements = rows * t_.tile_pitch, held = 0;
        if (t_.tiles_width > 1) {
            shape.rows = rows;
            shape.columns = static_cast<uint32_t>(columns_.end - columns_.begin);
        } else {
            elements = elements * static_cast<uint32_t>(t_.lane_planes) + held_;
            if (!is_last_) {
                const uint64_t end = static_cast<uint64_t>(rows_.end * t_.width);
                held = static_cast<uint32_t>(least(end % kAligned, elements));
            }
            shape.rows = 1;
            shape.columns = elements - held;
        }
        // The transposition takes whole steps of positions.
        const uint32_t rest = round_up(elements, kLanes) - elements;
        fill(lanes_[elements * kLanes], 0.0f, rest);
        if (elements > held) narrow_and_store(shape, round_up(elements - held, kLanes));
        keep(elements - held, held);
        held_ = held;
    }

  private:
    static constexpr uint32_t kAligned = 512 / sizeof(T);  // elements
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kLengthStep = kLanes;  // of interleave()
#else
    static constexpr uint32_t kLengthStep = kBlock<T>;
#endif
#if __CCE_AICORE__ == 220
    static constexpr RoundMode kRound = RoundMode::CAST_RINT;
#else
    static constexpr RoundMode kRound = RoundMode::CAST_NONE;
#endif

    __aicore__ inline uint32_t lane_positions() {
        return static_cast<uint32_t>(
            greatest(t_.held_elements + t_.grad_elements, t_.tile_elements));
    }

    // Elements [begin, end) of each lane.
    __aicore__ inline void interleave_part(const LocalTensor<T>& from, uint32_t begin, uint32_t end,
                                           uint32_t lanes) {
        if (begin >= end) return;
        if constexpr (kIsNarrow) {
            interleave_16bit(narrow_buffer_.Get<half>()[begin * kLanes],
                             from[begin].template ReinterpretCast<half>(), end - begin,
                             t_.grad_elements, lanes);
        } else {
            interleave(grad_lanes()[begin * kLanes], from[begin], end - begin, t_.grad_elements,
                       scratch_, lanes);
        }
    }

    __aicore__ inline void narrow_and_store(const LanesShape& shape, uint32_t length) {
        PipeBarrier<PIPE_V>();
        const LocalTensor<T> to = stores_.template AllocTensor<T>();
        if constexpr (kIsNarrow) {
            const LocalTensor<half> narrow = narrow_buffer_.Get<half>();
            Cast(narrow_buffer_.Get<T>(), lanes_, kRound, length * kLanes);
            PipeBarrier<PIPE_V>();
            deinterleave_16bit(to.template ReinterpretCast<half>(), narrow, length,
                               t_.tile_elements);
        } else {
            if (t_.mode == kFloat16)
                round_to_float16(lanes_, narrow_buffer_.Get<half>(), length * kLanes);
            PipeBarrier<PIPE_V>();
            deinterleave(to, lanes_, length, t_.tile_elements, scratch_);
        }
        stores_.EnQue(to);
        LocalTensor<T> done = stores_.template DeQue<T>();
        store_lanes(grad_input_, done, shape, tail_buffer_.Get<T>());
        stores_.FreeTensor(done);
    }
    // Moves `count` positions from `begin` on to the front.
    __aicore__ inline void keep(uint32_t begin, uint32_t count) {
        if (begin == 0) return;
        for (uint32_t done = 0; done < count; done += begin) {
            const uint32_t left = count - done;
            PipeBarrier<PIPE_V>();
            DataCopy(lanes_[done * kLanes], lanes_[(begin + done) * kLanes],
                     (left < begin ? left : begin) * kLanes);
        }
        PipeBarrier<PIPE_V>();
    }

    GlobalTensor<T> grad_output_, grad_input_;
    TQue<TPosition::VECIN, 1> loads_;
    TQue<TPosition::VECOUT, 1> stores_;
    Buffer lanes_buffer_, narrow_buffer_, rounding_buffer_, tail_buffer_, scratch_buffer_;
    LocalTensor<float> lanes_, scratch_;
    uint32_t held_ = 0;  // positions of tiles above that wait in lanes_
};

}  // namespace kernels
