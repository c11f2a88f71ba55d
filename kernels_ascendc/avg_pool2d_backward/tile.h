// What the traversals of AvgPool2dBackward share: the way of lanes from grad_output to floats and
// from floats to grad_input.
#pragma once

#include "avg_pool2d_backward/loads.h"
#include "avg_pool2d_backward/rounding.h"

namespace kernels {

template <typename T>
class PoolTile : protected PoolGeometry<T> {
    using Base = PoolGeometry<T>;

  protected:
    using Base::columns_;
    using Base::planes_;
    using Base::rows_;
    using Base::run_;
    using Base::t_;
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    using Buffer = TBuf<TPosition::VECCALC>;

    __aicore__ inline PoolTile(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(tiling), order_(tiling) {
        grad_output_.SetGlobalBuffer((__gm__ T*)grad_output);
        grad_input_.SetGlobalBuffer((__gm__ T*)grad_input);
        pipe.InitBuffer(loads_, kLoads, kLanes * t_.load_elements * sizeof(T));
        pipe.InitBuffer(stores_, static_cast<uint8_t>(t_.store_buffers),
                        kLanes * t_.tile_elements * sizeof(T));
        grads_ = floats(pipe, grads_buffer_, t_.grad_positions);
        // Sums and transpositions also take what lies around the gradients.
        fill(grads_, 0.0f, t_.grad_positions);
        lanes_ = floats(pipe, lanes_buffer_, t_.tile_positions);
        [[maybe_unused]] const uint32_t positions =
            t_.tile_positions > t_.load_elements ? t_.tile_positions : t_.load_elements;
        if (t_.mode == kPoolFloat16)
            pipe.InitBuffer(rounding_buffer_, positions * kLanes * sizeof(half));
        if (t_.mode == kPoolHf32) pipe.InitBuffer(rounding_buffer_, kHf32Bytes);
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
    // to[0..count) = from[0..count), positions; `from` is behind `to` and may overlap it.
    template <typename Lane>
    __aicore__ inline void move(const LocalTensor<Lane>& lanes, uint32_t to, uint32_t from,
                                uint32_t count) {
        const uint32_t shift = from - to;
        if (shift == 0) return;
        for (uint32_t done = 0; done < count; done += shift) {
            const uint32_t left = count - done;
            PipeBarrier<PIPE_V>();
            DataCopy(lanes[(to + done) * kLanes], lanes[(from + done) * kLanes],
                     (left < shift ? left : shift) * kLanes);
        }
        PipeBarrier<PIPE_V>();
    }

    // --- From grad_output to floats.

    __aicore__ inline void load(const LanesShape& shape) {
        const LocalTensor<T> to = loads_.template AllocTensor<T>();
        const uint32_t before = t_.traversal == kPoolColumns ? t_.windows_before : 0;
        copy_evenly<T>(shape, [&](const LanesShape& part, uint32_t begin) {
            load_lanes(to[before + begin], grad_output_, part);
        });
        loads_.EnQue(to);
    }
    // As the next load of the core, to position `at` of grads_ and those that follow; returns what
    // it holds. Those after it come before the stores of what it adds to.
    __aicore__ inline LanesShape take(uint32_t at) {
        while (loads_ahead_ < kLoads && order_.next(ahead_[loads_ahead_]))
            load(ahead_[loads_ahead_++]);
        const LanesShape shape = ahead_[0];
        widen(shape, at);
        --loads_ahead_;
        ahead_[0] = ahead_[1];
        if (order_.next(ahead_[loads_ahead_])) load(ahead_[loads_ahead_++]);
        return shape;
    }
    // What load() loaded, to position `at` of grads_ and those that follow. Overwrites lanes_ from
    // t_.scratch on.
    __aicore__ inline void widen(const LanesShape& shape, uint32_t at) {
        LocalTensor<T> from = loads_.template DeQue<T>();
        const uint32_t elements = shape.rows == 1 ? shape.columns : shape.rows * shape.row_pitch;
        const LocalTensor<float> to = grads_[at * kLanes];
        if (t_.traversal == kPoolColumns) {
            widen_rows(to, from, shape);
            loads_.FreeTensor(from);
            finish(to, shape.rows * t_.lane_pitch);
            return;
        }
        // The short lane, if any, takes part as far as it goes.
        const uint32_t end = round_up(elements, kBlock<T>);
        const uint32_t rest = static_cast<uint32_t>(least(round_up(shape.rest, kLengthStep), end));
        if (rest > 0) {
            const LocalTensor<T> last = from[shape.lanes * shape.lane_elements];
            clear_rest(last, shape.rest);
            const uint32_t loaded = round_up(shape.rest, kBlock<T>);
            if constexpr (!kIsNarrow) {
                if (rest > loaded)
                    Duplicate(last[loaded], 0.0f, static_cast<int32_t>(rest - loaded));
            }
            PipeBarrier<PIPE_V>();
            interleave_part(to, from, 0, rest, shape.lane_elements, shape.lanes + 1);
        }
#if __CCE_AICORE__ == 100
        // Here rows of lanes are transposed once more; few lanes may all lie at the tensor's end.
        if (shape.lanes > 0) {
            clear_rest(from, elements);
            PipeBarrier<PIPE_V>();
        }
#endif
        if (shape.lanes > 0) interleave_part(to, from, rest, end, shape.lane_elements, shape.lanes);
        loads_.FreeTensor(from);
        finish(to, shape.lanes > 0 ? elements : shape.rest);
    }
    // The first `used` positions, transposed.
    __aicore__ inline void finish(const LocalTensor<float>& to, uint32_t used) {
        PipeBarrier<PIPE_V>();
        const uint32_t count = round_up(used, kLanes) * kLanes;
        if constexpr (kIsNarrow) {
            Cast(to, scratch16().template ReinterpretCast<T>(), RoundMode::CAST_NONE, count);
        } else {
            if (t_.mode == kPoolFloat16) round_to_float16(to, rounding_buffer_.Get<half>(), count);
#if __CCE_AICORE__ == 220
            if (t_.mode == kPoolHf32) round_to_hf32(to, rounding_buffer_.Get<int32_t>(), count);
#endif
        }
        PipeBarrier<PIPE_V>();
        // What a copy leaves behind its last element.
        fill(to[used * kLanes], 0.0f, round_up(used, kLanes) - used);
    }

    // --- From floats to grad_input.

    // What waits comes before it, narrowed already.
    __aicore__ inline LocalTensor<float> tile_lanes() {
        return lanes_[(kIsNarrow ? t_.tile_begin : held_) * kLanes];
    }
    // Stores what of `tile` ends at a multiple of 512 bytes; the rest waits for the tile below.
    __aicore__ inline void store_tile(const LocalTensor<float>& tile) {
        const uint32_t rows = static_cast<uint32_t>(rows_.end - rows_.begin);
        uint32_t elements = rows * t_.tile_pitch, held = 0;
        if (t_.traversal == kPoolColumns) {
            store_rows_of_tile(tile, rows);
            return;
        }
        if (t_.tiles_width == 1) {
            if (!this->is_tall()) elements *= static_cast<uint32_t>(planes_);
            elements += held_;
            if (rows_.end < run_.end) {
                held = odd_elements(tile_shape(0).offset + elements);
                // Little is not worth a store.
                const bool is_little = elements <= kEven && elements < held + kEven / 2;
                if (is_little || held > elements) held = elements;
            }
        }
        LanesShape shape = tile_shape(elements - held);
        if (t_.tiles_width > 1) {
            shape.row_stride = static_cast<uint64_t>(t_.width);
            shape.rows = rows;
            shape.columns = static_cast<uint32_t>(columns_.end - columns_.begin);
            shape.row_pitch = t_.tile_pitch;
        }
        // The transposition takes whole steps of positions; behind a dense tile are others, which
        // somebody wrote.
        const uint32_t added = elements - held_, all = round_up(elements, kLanes) - held_;
        if (t_.dense == 0) fill(tile[added * kLanes], 0.0f, all - added);
        const LocalTensor<T> narrow_lanes = lanes_.template ReinterpretCast<T>();
        narrow(narrow_lanes[held_ * kLanes], tile, all);
        if (elements > held) {
            const uint32_t length = round_up(elements - held, kLanes);
            shape.lane_elements = length;
            store(shape, length);
        }
        move(narrow_lanes, 0, elements - held, held);
        held_ = held;
    }
    // Lanes that are stretches of columns, row by row.
    __aicore__ inline void store_rows_of_tile(const LocalTensor<float>& tile, uint32_t rows) {
        LanesShape shape = tile_shape(0);
        const LocalTensor<T> narrow_lanes = lanes_.template ReinterpretCast<T>();
        narrow(narrow_lanes, tile, rows * t_.tile_pitch);
        PipeBarrier<PIPE_V>();
        const LocalTensor<T> to = stores_.template AllocTensor<T>();
        const uint32_t length = t_.lane_windows * static_cast<uint32_t>(t_.stride_width);
        shape.row_pitch = length * kLanes;
        for (uint32_t row = 0; row < rows; ++row) {
            deinterleave_part(to[row * shape.row_pitch], row * t_.tile_pitch, length, length);
        }
        shape.lanes = 1;
        shape.rest = 0;
        shape.rows = rows;
        shape.columns = static_cast<uint32_t>(t_.width);
        shape.row_stride = shape.lane_stride = static_cast<uint64_t>(t_.width);
        shape.lane_elements = rows * shape.row_pitch;
        if (shape.columns == shape.row_pitch) {
            shape.rows = 1;
            shape.columns = shape.lane_elements;
            shape.lane_stride = shape.columns;
        }
        copy_out(to, shape);
    }
    // `count` elements of each lane from where the tile begins, with what waits above it.
    __aicore__ inline LanesShape tile_shape(uint32_t count) {
        LanesShape shape;
        this->set_lanes(shape, static_cast<uint64_t>(t_.height * t_.width),
                        rows_.begin * t_.width + columns_.begin - held_, count);
        return shape;
    }
    // From lanes of T in lanes_, `length` of each.
    __aicore__ inline void store(const LanesShape& shape, uint32_t length) {
        PipeBarrier<PIPE_V>();
        const LocalTensor<T> to = stores_.template AllocTensor<T>();
        deinterleave_part(to, 0, length, shape.lane_elements);
        copy_out(to, shape);
    }
    // Of lanes_ as T, from position `at` on.
    __aicore__ inline void deinterleave_part(const LocalTensor<T>& to, uint32_t at, uint32_t length,
                                             uint32_t pitch) {
        if constexpr (kIsNarrow) {
            const LocalTensor<half> lanes = lanes_.template ReinterpretCast<half>();
            deinterleave_16bit(to.template ReinterpretCast<half>(), lanes[at * kLanes], length,
                               pitch);
        } else {
            deinterleave(to, lanes_[at * kLanes], length, pitch, scratch_);
        }
    }
    __aicore__ inline void copy_out(const LocalTensor<T>& to, const LanesShape& shape) {
        stores_.EnQue(to);
        LocalTensor<T> done = stores_.template DeQue<T>();
        const LocalTensor<T> tail = tail_buffer_.Get<T>();
        copy_evenly<T>(shape, [&](const LanesShape& part, uint32_t begin) {
            store_lanes(grad_input_, done[begin], part, tail);
        });
        stores_.FreeTensor(done);
    }
    // `length` positions rounded to T: to `to`, which may begin where `lanes` do.
    __aicore__ inline void narrow(const LocalTensor<T>& to, const LocalTensor<float>& lanes,
                                  uint32_t length) {
        const uint32_t count = length * kLanes;
        PipeBarrier<PIPE_V>();
        if constexpr (kIsNarrow) {
            Cast(to, lanes, kNearest, count);
        } else {
            if (t_.mode == kPoolFloat16)
                round_to_float16(lanes, rounding_buffer_.Get<half>(), count);
            PipeBarrier<PIPE_V>();
            if (t_.dense != 0) DataCopy(to, lanes, count);
        }
    }

    // Elements from the last multiple of 512 bytes up to that one of grad_input, or, on products
    // whose copies are whole blocks, of a run.
    __aicore__ inline uint32_t odd_elements(uint64_t offset) {
#if __CCE_AICORE__ != 220
        offset -= this->first_plane_ * static_cast<uint64_t>(t_.height * t_.width);
#endif
        return static_cast<uint32_t>(offset % kEven);
    }

    static constexpr uint32_t kEven = 512 / sizeof(T);  // elements
    LocalTensor<float> grads_, lanes_;

  private:
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kLengthStep = kLanes;  // of interleave()
#else
    static constexpr uint32_t kLengthStep = kBlock<T>;
#endif

    __aicore__ inline LocalTensor<half> scratch16() {
        return lanes_[t_.scratch * kLanes].template ReinterpretCast<half>();
    }
    // Elements [begin, end) of each row become zero, where `begin` is less than a block.
    __aicore__ inline void clear_in_rows(const LocalTensor<T>& rows, uint32_t begin, uint32_t end,
                                         const LanesShape& shape) {
        constexpr uint32_t kStep = 8 * kBlock<T>;
        const uint32_t pitch = shape.row_pitch / kBlock<T>;
        const uint32_t together = pitch <= kMaxRepeat && shape.rows <= kMaxRepeat ? shape.rows : 1;
        for (uint32_t at = 0; at < end; at += kStep, begin = 0) {
            const uint32_t count = end - at < kStep ? end - at : kStep;
            uint64_t mask[2] = {0, 0};
            for (uint32_t i = begin; i < count; ++i) mask[i / 64] |= 1ull << (i % 64);
            for (uint32_t row = 0; row < shape.rows; row += together) {
                const LocalTensor<T> to = rows[row * shape.row_pitch + at];
                const auto repeats = static_cast<uint8_t>(together);
                const auto step = static_cast<uint8_t>(together == 1 ? 8 : pitch);
                if constexpr (kIsNarrow) {
                    Duplicate(to.template ReinterpretCast<half>(), static_cast<half>(0.0f), mask,
                              repeats, 1, step);
                } else {
                    Duplicate(to, 0.0f, mask, repeats, 1, step);
                }
            }
        }
    }
    // Rows of windows to lanes that overlap.
    __aicore__ inline void widen_rows(const LocalTensor<float>& to, const LocalTensor<T>& from,
                                      const LanesShape& shape) {
        // What lanes have before and behind the windows of a row.
        if (t_.windows_before > 0) clear_in_rows(from, 0, t_.windows_before, shape);
        const uint32_t rest = shape.columns % kBlock<T>;
        const uint32_t behind = t_.windows_before + shape.columns - rest;
        if (behind + rest < shape.row_pitch)
            clear_in_rows(from[behind], rest, shape.row_pitch - behind, shape);
        PipeBarrier<PIPE_V>();
        for (uint32_t row = 0; row < shape.rows; ++row) {
            const uint32_t at = row * t_.lane_pitch;
            const LocalTensor<T> lanes = from[row * shape.row_pitch];
            if constexpr (kIsNarrow) {
                interleave_16bit(scratch16()[at * kLanes], lanes.template ReinterpretCast<half>(),
                                 t_.lane_pitch, t_.lane_windows);
            } else {
                interleave(to[at * kLanes], lanes, t_.lane_pitch, t_.lane_windows, scratch_);
            }
        }
    }
    // Elements [begin, end) of each lane.
    __aicore__ inline void interleave_part(const LocalTensor<float>& to, const LocalTensor<T>& from,
                                           uint32_t begin, uint32_t end, uint32_t pitch,
                                           uint32_t lanes) {
        if (begin >= end) return;
        if constexpr (kIsNarrow) {
            interleave_16bit(scratch16()[begin * kLanes],
                             from[begin].template ReinterpretCast<half>(), end - begin, pitch,
                             lanes);
        } else {
            interleave(to[begin * kLanes], from[begin], end - begin, pitch, scratch_, lanes);
        }
    }

    static constexpr uint32_t kLoads = 2;
    PoolLoads<T> order_;
    LanesShape ahead_[kLoads];
    uint32_t loads_ahead_ = 0;
    GlobalTensor<T> grad_output_, grad_input_;
    TQue<TPosition::VECIN, kLoads> loads_;
    TQue<TPosition::VECOUT, 1> stores_;
    Buffer grads_buffer_, lanes_buffer_, rounding_buffer_, tail_buffer_, scratch_buffer_;
    LocalTensor<float> scratch_;
    uint32_t held_ = 0;  // positions of tiles above that wait in lanes_
};

}  // namespace kernels
