// What the traversals of AvgPool2dBackward share: tiles, and the way of their lanes from and to
// global memory.
#pragma once

#include "avg_pool2d_backward/lane_copy.h"
#include "ops/avg_pool2d_backward/tiling.h"

namespace kernels {

__aicore__ inline int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
__aicore__ inline int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// One axis of a tile: elements [begin, end) of grad_input, and windows [first, last] that they may
// have; those below 0 and beyond the last one do not exist.
struct TileAxis {
    int64_t begin, end;
    int64_t first, last;
};

// A rectangle of grad_output.
struct GradPart {
    int64_t first_row, end_row, first_column, end_column;
};

template <typename T>
class PoolTile {
  protected:
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    enum Mode : uint32_t { kFloat32, kFloat16, kHf32 };
    using Buffer = TBuf<TPosition::VECCALC>;

    __aicore__ inline PoolTile(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : t_(tiling) {
        const int64_t core = GetBlockIdx(), cores = GetBlockNum();
        first_tile_ = core * t_.units / cores * t_.unit_tiles;
        end_tile_ = (core + 1) * t_.units / cores * t_.unit_tiles;
        tile_ = first_tile_ - 1;
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
        if (t_.mode == kHf32) pipe.InitBuffer(rounding_buffer_, kRoundingBytes);
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

    // Goes to the first or next tile of this core; false when there is none.
    __aicore__ inline bool next_tile() {
        if (tile_ + 1 >= end_tile_) return false;
        set_tile(++tile_);
        return true;
    }

    // --- From grad_output to floats in grad_lanes().

    __aicore__ inline void load(const GradPart& part) {
        const LocalTensor<T> to = loads_.template AllocTensor<T>();
        load_lanes(to, grad_output_, shape_of(part));
        loads_.EnQue(to);
    }
    // Position of an element of the part among its lanes; planes of a lane follow each other.
    __aicore__ inline uint32_t position(const GradPart& part, int64_t plane, int64_t row,
                                        int64_t column) {
        const int64_t rows = t_.lane_planes > 1 ? t_.grad_height : part.end_row - part.first_row;
        const int64_t first = has_whole_rows() ? 0 : part.first_column;
        return static_cast<uint32_t>((plane * rows + row - part.first_row) * pitch(part) + column -
                                     first);
    }
    __aicore__ inline LocalTensor<float> grad_lanes() {
        return lanes_[t_.held_elements * kLanes];
    }
    __aicore__ inline void widen(const GradPart& part) {
        LocalTensor<T> from = loads_.template DeQue<T>();
        const LanesShape shape = shape_of(part);
        const uint32_t elements = shape.rows == 1 ? shape.columns : shape.rows * shape.row_pitch;
        // The short lane, if any, takes part as far as it goes.
        const uint32_t rest = round_up(shape.rest, kBlock<T>);
        if (rest > 0) interleave_part(from, 0, rest, shape.lanes + 1);
        if (shape.lanes > 0)
            interleave_part(from, rest, round_up(elements, kBlock<T>), shape.lanes);
        loads_.FreeTensor(from);
        PipeBarrier<PIPE_V>();
        const uint32_t count = round_up(elements, kLanes) * kLanes;
        if constexpr (kIsNarrow) {
            Cast(grad_lanes(), narrow_buffer_.Get<T>(), RoundMode::CAST_NONE, count);
        } else {
            if (t_.mode == kFloat16) round_to_float16(grad_lanes(), count);
#if __CCE_AICORE__ == 220
            if (t_.mode == kHf32) round_to_hf32(grad_lanes(), count);
#endif
        }
        PipeBarrier<PIPE_V>();
    }

    // --- From floats in tile_lanes() to grad_input.

    __aicore__ inline LocalTensor<float> tile_lanes() {
        return lanes_[held_ * kLanes];
    }
    __aicore__ inline uint32_t tile_position(int64_t plane, int64_t row, int64_t column) {
        return static_cast<uint32_t>((plane * (rows_.end - rows_.begin) + row) * t_.tile_pitch +
                                     column);
    }
    // Stores what ends at a multiple of 512 bytes; the rest waits for the tile below.
    __aicore__ inline void store_tile() {
        const uint64_t plane = static_cast<uint64_t>(t_.height * t_.width);
        const uint32_t rows = static_cast<uint32_t>(rows_.end - rows_.begin);
        LanesShape shape;
        set_lanes(shape, plane);
        shape.offset = first_plane() * plane +
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

    const AvgPool2dBackwardTiling& t_;
    LocalTensor<float> lanes_;
    bool is_fresh_ = true;  // no tile of this core is above
    bool is_last_ = true;   // nor below
    TileAxis rows_, columns_;

    // What cube_math_type asks of float32 tensors.
    __aicore__ inline void round_to_float16(const LocalTensor<float>& x, uint32_t count) {
        const LocalTensor<half> narrow = narrow_buffer_.Get<half>();
        PipeBarrier<PIPE_V>();
        Cast(narrow, x, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        Cast(x, narrow, RoundMode::CAST_NONE, count);
    }

#if __CCE_AICORE__ == 220
    // To 12 significant bits, to nearest even; infinities and NaN stay as they are.
    __aicore__ inline void round_to_hf32(const LocalTensor<float>& x, uint32_t count) {
        const LocalTensor<int32_t> bits = rounding_buffer_.Get<int32_t>();
        const LocalTensor<int32_t> ones = bits[kRoundingStep], upper = bits[2 * kRoundingStep];
        const LocalTensor<float> zeros = bits[3 * kRoundingStep].ReinterpretCast<float>();
        const LocalTensor<uint8_t> is_finite = bits[4 * kRoundingStep].ReinterpretCast<uint8_t>();
        Duplicate(ones, 1, kRoundingStep);
        Duplicate(upper, ~0xfff, kRoundingStep);
        for (uint32_t done = 0; done < count; done += kRoundingStep) {
            const uint32_t left = count - done;
            const int32_t n = left < kRoundingStep ? left : kRoundingStep;
            const LocalTensor<float> values = x[done];
            const LocalTensor<int32_t> value_bits = values.ReinterpretCast<int32_t>();
            Duplicate(zeros, 0.0f, n);
            ShiftRight(bits.ReinterpretCast<uint32_t>(), value_bits.ReinterpretCast<uint32_t>(),
                       12u, n);
            PipeBarrier<PIPE_V>();
            both(bits, ones, n);
            PipeBarrier<PIPE_V>();
            Adds(bits, bits, 0x7ff, n);
            PipeBarrier<PIPE_V>();
            Add(bits, bits, value_bits, n);
            PipeBarrier<PIPE_V>();
            both(bits, upper, n);
            Mul(zeros, zeros, values, n);  // NaN where a value is not finite
            PipeBarrier<PIPE_V>();
            Compare(is_finite, zeros, zeros, CMPMODE::EQ, round_up(n, 64));
            PipeBarrier<PIPE_V>();
            Select(values, is_finite, bits.ReinterpretCast<float>(), values,
                   SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
            PipeBarrier<PIPE_V>();
        }
    }
    // x &= y, which exists for 16-bit elements only.
    __aicore__ inline void both(const LocalTensor<int32_t>& x, const LocalTensor<int32_t>& y,
                                int32_t count) {
        const LocalTensor<uint16_t> words = x.ReinterpretCast<uint16_t>();
        And(words, words, y.ReinterpretCast<uint16_t>(), 2 * count);
    }
#endif

  private:
    static constexpr uint32_t kAligned = 512 / sizeof(T);  // elements
    static constexpr uint32_t kRoundingStep = 512;         // floats
    static constexpr uint32_t kRoundingBytes = (4 * kRoundingStep + kRoundingStep / 32) * 4;
#if __CCE_AICORE__ == 220
    static constexpr RoundMode kRound = RoundMode::CAST_RINT;
#else
    static constexpr RoundMode kRound = RoundMode::CAST_NONE;
#endif

    __aicore__ inline uint32_t lane_positions() {
        return static_cast<uint32_t>(
            greatest(t_.held_elements + t_.grad_elements, t_.tile_elements));
    }

    __aicore__ inline void set_tile(int64_t tile) {
        const int64_t tiles = t_.tiles_height * t_.tiles_width;
        group_ = tile / tiles;
        const int64_t row = tile % tiles % t_.tiles_height;
        const int64_t column = tile % tiles / t_.tiles_height;
        is_fresh_ = row == 0 || tile == first_tile_;
        is_last_ = row == t_.tiles_height - 1 || tile + 1 == end_tile_;
        rows_ = axis(row, t_.tile_height, t_.phase_height, t_.height, t_.stride_height,
                     t_.pad_height, t_.cover_height);
        columns_ = axis(column, t_.tile_width, t_.phase_width, t_.width, t_.stride_width,
                        t_.pad_width, t_.cover_width);
    }
    __aicore__ inline TileAxis axis(int64_t tile, int64_t size, int64_t phase, int64_t extent,
                                    int64_t stride, int64_t pad, int64_t cover) {
        TileAxis a;
        a.begin = greatest(0, tile * size - phase);
        a.end = least(extent, (tile + 1) * size - phase);
        a.first = (a.begin + pad) / stride - (cover - 1);
        a.last = (a.end - 1 + pad) / stride;
        return a;
    }

    __aicore__ inline uint64_t first_plane() {
        return static_cast<uint64_t>(group_ * t_.lane_planes * kLanes);
    }
    __aicore__ inline void set_lanes(LanesShape& shape, uint64_t plane_elements) {
        const int64_t left = t_.planes - static_cast<int64_t>(first_plane());
        shape.lanes = static_cast<uint32_t>(least(left / t_.lane_planes, kLanes));
        const int64_t planes = left - shape.lanes * t_.lane_planes;
        shape.rest = shape.lanes < kLanes ? static_cast<uint32_t>(planes * plane_elements) : 0;
        shape.lane_stride = t_.lane_planes * plane_elements;
    }
    // Whether parts of grad_output are loaded with all their columns.
    __aicore__ inline bool has_whole_rows() {
        return t_.tiles_width == 1 && t_.traversal != kPoolDirect;
    }
    // Elements between rows of a part that was loaded.
    __aicore__ inline uint32_t pitch(const GradPart& part) {
        return has_whole_rows()
                   ? static_cast<uint32_t>(t_.grad_width)
                   : round_up(static_cast<uint32_t>(part.end_column - part.first_column),
                              kBlock<T>);
    }
    __aicore__ inline LanesShape shape_of(const GradPart& part) {
        LanesShape shape;
        const uint64_t plane = static_cast<uint64_t>(t_.grad_height * t_.grad_width);
        set_lanes(shape, plane);
        shape.offset = first_plane() * plane;
        shape.lane_elements = t_.grad_elements;
        shape.row_stride = static_cast<uint64_t>(t_.grad_width);
        shape.row_pitch = pitch(part);
        if (t_.lane_planes > 1) {
            shape.rows = 1;
            shape.columns = static_cast<uint32_t>(shape.lane_stride);
            return shape;
        }
        shape.offset += static_cast<uint64_t>(part.first_row * t_.grad_width);
        const uint32_t rows = static_cast<uint32_t>(part.end_row - part.first_row);
        if (has_whole_rows()) {
            shape.rows = 1;
            shape.columns = rows * static_cast<uint32_t>(t_.grad_width);
        } else {
            shape.offset += static_cast<uint64_t>(part.first_column);
            shape.rows = rows;
            shape.columns = static_cast<uint32_t>(part.end_column - part.first_column);
        }
        return shape;
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
            if (t_.mode == kFloat16) round_to_float16(lanes_, length * kLanes);
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
    LocalTensor<float> scratch_;
    int64_t first_tile_, end_tile_, tile_;
    int64_t group_ = 0;
    uint32_t held_ = 0;  // positions of tiles above that wait in lanes_
};

}  // namespace kernels
