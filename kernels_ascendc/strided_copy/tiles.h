// Strided copy on products with DataCopyPad: tiles of the two innermost loops.
#pragma once

#include "strided_copy/tile.h"

namespace kernels {

// Elements as memory moves them: which numbers they are matters to conversions only.
template <uint32_t size>
struct RawElement;
template <>
struct RawElement<2> {
    using Type = half;
};
template <>
struct RawElement<4> {
    using Type = float;
};
template <typename T>
using Raw = typename RawElement<sizeof(T)>::Type;

template <typename T, typename U>
constexpr bool kSame = false;
template <typename T>
constexpr bool kSame<T, T> = true;

template <typename From, typename To>
class TiledCopy {
  public:
    // As in csrc/device/strided_copy.cpp, which cuts tiles so that they fit.
    static constexpr uint32_t kTileElements = 6144;
    static constexpr uint32_t kTileBytes = 4 * kTileElements;

    __aicore__ inline TiledCopy(TPipe* pipe, GM_ADDR source, GM_ADDR target,
                                const StridedCopyTiling& tiling)
        : source_(source + tiling.source_begin), target_(target + tiling.target_begin), t_(tiling) {
        source_is_odd_ = is_odd(source_, t_.source_stride, sizeof(From));
        target_is_odd_ = is_odd(target_, t_.target_stride, sizeof(To));
        pipe->InitBuffer(in_, 2, kTileBytes);
        pipe->InitBuffer(out_, 2, kTileBytes);
        if (t_.read != STRIDED_COPY_ROWS) {
            pipe->InitBuffer(packed_, kTileElements * sizeof(From));
            Duplicate(packed_.template Get<Raw<From>>(), static_cast<Raw<From>>(0.0f),
                      kTileElements);
        }
        if (t_.write == STRIDED_COPY_SINGLE) {
            pipe->InitBuffer(converted_, kTileElements * sizeof(To));
            Duplicate(converted_.template Get<Raw<To>>(), static_cast<Raw<To>>(0.0f),
                      kTileElements);
        }
        if constexpr (kThroughFloat) pipe->InitBuffer(wide_, kTileElements * sizeof(float));
        if (t_.read == STRIDED_COPY_RUN || t_.read == STRIDED_COPY_SINGLE) make_offsets(pipe);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void run() {
        const int64_t begin = GetBlockIdx() * t_.items_per_block;
        const int64_t end = least(begin + t_.items_per_block, t_.items);
        for (int64_t item = begin; item < end; ++item) copy_tile(item);
    }

  private:
    static constexpr bool kThroughFloat = sizeof(From) == 2 && sizeof(To) == 2 && !kSame<From, To>;

    __aicore__ inline void make_offsets(TPipe* pipe) {
        const int64_t stride = t_.source_stride[7];
        step_ = kBlockBytes;
        if (t_.read == STRIDED_COPY_RUN)
            step_ = static_cast<int32_t>(stride < 0 ? -stride : stride);
        if (stride == 0) step_ = 0;
        pipe->InitBuffer(offsets_, round_up(t_.tile_columns, 16) * sizeof(int32_t));
        set_offsets(t_.tile_columns);
    }

    // Where the elements of a row lie in what was read, in bytes; the last one first where the
    // source runs backwards.
    __aicore__ inline void set_offsets(uint32_t columns) {
        const LocalTensor<int32_t> offsets = offsets_.template Get<int32_t>();
        const uint32_t count = round_up(columns, 16);
        const bool reversed = t_.source_stride[7] < 0;
        PipeBarrier<PIPE_V>();
        CreateVecIndex(offsets, static_cast<int32_t>(0), count);
        PipeBarrier<PIPE_V>();
        Muls(offsets, offsets, reversed ? -step_ : step_, count);
        if (reversed) {
            PipeBarrier<PIPE_V>();
            Adds(offsets, offsets, static_cast<int32_t>(columns - 1) * step_, count);
        }
        PipeBarrier<PIPE_V>();
        offset_columns_ = columns;
    }

    __aicore__ inline void copy_tile(int64_t item) {
        const StridedTile tile(t_, item);
        rows_ = tile.rows;
        columns_ = tile.columns;
        pitch_ = round_up(columns_, 16);

        LocalTensor<Raw<From>> raw = in_.template AllocTensor<Raw<From>>();
        read(raw, source_ + tile.source(tile.column));
        in_.EnQue(raw);
        raw = in_.template DeQue<Raw<From>>();
        const LocalTensor<Raw<From>> packed = arrange(raw);
        LocalTensor<Raw<To>> result = out_.template AllocTensor<Raw<To>>();
        if (t_.write == STRIDED_COPY_ROWS) {
            convert(result, packed);
        } else {
            const LocalTensor<Raw<To>> converted = converted_.template Get<Raw<To>>();
            convert(converted, packed);
            PipeBarrier<PIPE_V>();
            spread(result, converted);
        }
        in_.FreeTensor(raw);
        out_.EnQue(result);
        result = out_.template DeQue<Raw<To>>();
        write(target_ + tile.target(tile.column), result);
        out_.FreeTensor(result);
    }

    // `pieces` pieces of `count` elements, `step` bytes apart; in `to` whole blocks, with zeros
    // behind the data up to `to_pitch` elements. `Unit` is what addresses are multiples of.
    template <typename Unit>
    __aicore__ inline void read_units(const LocalTensor<Raw<From>>& raw, GM_ADDR address,
                                      uint32_t pieces, uint32_t count, int64_t step,
                                      uint32_t to_pitch) {
        const LocalTensor<Unit> to = raw.template ReinterpretCast<Unit>();
        const uint32_t bytes = count * sizeof(From);
        const int64_t gap = step - static_cast<int64_t>(bytes);
        const uint32_t behind = static_cast<uint32_t>(to_pitch * sizeof(From)) - bytes;
        const uint32_t padding = (behind < kBlockBytes ? behind : kBlockBytes) / sizeof(Unit);
        DataCopyPadExtParams<Unit> zeros{padding != 0, 0, static_cast<uint8_t>(padding),
                                         static_cast<Unit>(0)};
        const bool at_once = pieces == 1 || (gap >= 0 && gap <= UINT32_MAX);
        DataCopyExtParams shape{static_cast<uint16_t>(at_once ? pieces : 1), bytes,
                                static_cast<uint32_t>(at_once && pieces > 1 ? gap : 0), 0, 0};
        for (uint32_t i = 0; i < (at_once ? 1 : pieces); ++i) {
            GlobalTensor<Unit> from;
            from.SetGlobalBuffer((__gm__ Unit*)(address + i * step));
            DataCopyPad(to[i * to_pitch * (sizeof(From) / sizeof(Unit))], from, shape, zeros);
        }
    }

    __aicore__ inline void read_pieces(const LocalTensor<Raw<From>>& to, GM_ADDR address,
                                       uint32_t pieces, uint32_t count, int64_t step,
                                       uint32_t to_pitch) {
        if (source_is_odd_) {
            read_units<uint8_t>(to, address, pieces, count, step, to_pitch);
        } else {
            read_units<Raw<From>>(to, address, pieces, count, step, to_pitch);
        }
    }

    __aicore__ inline void read(const LocalTensor<Raw<From>>& raw, GM_ADDR from) {
        const int64_t stride = t_.source_stride[7];
        if (t_.read == STRIDED_COPY_ROWS)
            return read_pieces(raw, from, rows_, columns_, t_.source_stride[6], pitch_);
        if (t_.read == STRIDED_COPY_TRANSPOSED)
            return read_pieces(raw, from, columns_, rows_, stride, round_up(rows_, 16));
        // The lowest address comes first.
        if (stride < 0) from = from + stride * (columns_ - 1);
        const uint32_t pitch = raw_row();
        for (uint32_t row = 0; row < rows_; ++row, from = from + t_.source_stride[6]) {
            const LocalTensor<Raw<From>> to = raw[row * pitch];
            if (t_.read == STRIDED_COPY_RUN) {
                read_pieces(to, from, 1, run_length(), 0, run_length());
            } else {
                read_pieces(to, from, stride == 0 ? 1 : columns_, 1, stride < 0 ? -stride : stride,
                            kBlock<From>);
            }
        }
    }

    __aicore__ inline uint32_t run_length() const {
        return (columns_ - 1) * (static_cast<uint32_t>(step_) / sizeof(From)) + 1;
    }
    // Elements between the rows of what was read one by one or in runs.
    __aicore__ inline uint32_t raw_row() const {
        if (t_.read == STRIDED_COPY_RUN) return round_up(run_length(), kBlock<From>);
        return step_ == 0 ? kBlock<From> : columns_ * kBlock<From>;
    }

    // Rows of neighbours, pitch_ apart.
    __aicore__ inline LocalTensor<Raw<From>> arrange(const LocalTensor<Raw<From>>& raw) {
        if (t_.read == STRIDED_COPY_ROWS) return raw;
        PipeBarrier<PIPE_V>();
        const LocalTensor<Raw<From>> packed = packed_.template Get<Raw<From>>();
        if (t_.read == STRIDED_COPY_TRANSPOSED) {
            transpose(packed, raw);
        } else {
            const LocalTensor<uint32_t> offsets =
                offsets_.template Get<int32_t>().template ReinterpretCast<uint32_t>();
            if (t_.source_stride[7] < 0 && columns_ != offset_columns_) set_offsets(columns_);
            const uint32_t pitch = raw_row();
            for (uint32_t row = 0; row < rows_; ++row)
                Gather(packed[row * pitch_], raw, offsets,
                       static_cast<uint32_t>(row * pitch * sizeof(From)), columns_);
        }
        PipeBarrier<PIPE_V>();
        return packed;
    }

    // raw[column][row] -> packed[row][column], sixteen columns at a time. Columns beyond the last
    // repeat it.
    __aicore__ inline void transpose(const LocalTensor<Raw<From>>& packed,
                                     const LocalTensor<Raw<From>>& raw) {
        constexpr uint32_t kStep = kBlock<From>;  // rows of one repeat
        const uint32_t pitch = round_up(rows_, 16);
        const uint32_t repeats = round_up(rows_, kStep) / kStep;
        TransDataTo5HDParams params(false, false, static_cast<uint8_t>(repeats),
                                    static_cast<uint16_t>(repeats == 1 ? 0 : pitch_),
                                    static_cast<uint16_t>(repeats == 1 ? 0 : 1));
        for (uint32_t column = 0; column < columns_; column += 16) {
            LocalTensor<Raw<From>> to[16], from[16];
            for (uint32_t k = 0; k < 16; ++k) {
                const uint32_t source = column + k < columns_ ? column + k : columns_ - 1;
                from[k] = raw[source * pitch];
                if constexpr (sizeof(From) == 2) {
                    to[k] = packed[k * pitch_ + column];
                } else {
                    to[k] = packed[k / 2 * pitch_ + column + k % 2 * 8];
                }
            }
            TransDataTo5HD<Raw<From>>(to, from, params);
        }
    }

    __aicore__ inline void convert(const LocalTensor<Raw<To>>& to,
                                   const LocalTensor<Raw<From>>& from) {
        const uint32_t count = rows_ * pitch_;
        const LocalTensor<From> source = from.template ReinterpretCast<From>();
        const LocalTensor<To> target = to.template ReinterpretCast<To>();
        if constexpr (kSame<From, To>) {
            DataCopy(to, from, count);
        } else if constexpr (kThroughFloat) {
            const LocalTensor<float> wide = wide_.template Get<float>();
            Cast(wide, source, RoundMode::CAST_NONE, count);
            PipeBarrier<PIPE_V>();
            Cast(target, wide, RoundMode::CAST_RINT, count);
        } else {
            Cast(target, source,
                 sizeof(To) < sizeof(From) ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, count);
        }
    }

    // Every element to a block of its own.
    __aicore__ inline void spread(const LocalTensor<Raw<To>>& to,
                                  const LocalTensor<Raw<To>>& from) {
        const uint32_t groups = round_up(columns_, 8) / 8;
        for (uint32_t row = 0; row < rows_; ++row)
            Brcb(to[row * groups * 8 * kBlock<To>], from[row * pitch_],
                 static_cast<uint8_t>(groups), BrcbRepeatParams{1, 8});
    }

    // `pieces` pieces of `count` elements, `step` bytes apart in memory; in `from` `from_pitch`
    // elements apart.
    template <typename Unit>
    __aicore__ inline void write_units(GM_ADDR address, const LocalTensor<Raw<To>>& result,
                                       uint32_t pieces, uint32_t count, int64_t step,
                                       uint32_t from_pitch) {
        const LocalTensor<Unit> from = result.template ReinterpretCast<Unit>();
        const uint32_t bytes = count * sizeof(To);
        const int64_t gap = step - static_cast<int64_t>(bytes);
        const uint32_t from_gap = (from_pitch - round_up(count, kBlock<To>)) / kBlock<To>;
        const bool at_once = pieces == 1 || (gap >= 0 && gap <= UINT32_MAX);
        DataCopyExtParams shape{static_cast<uint16_t>(at_once ? pieces : 1), bytes,
                                at_once ? from_gap : 0,
                                static_cast<uint32_t>(at_once && pieces > 1 ? gap : 0), 0};
        for (uint32_t i = 0; i < (at_once ? 1 : pieces); ++i) {
            GlobalTensor<Unit> to;
            to.SetGlobalBuffer((__gm__ Unit*)(address + i * step));
            DataCopyPad(to, from[i * from_pitch * (sizeof(To) / sizeof(Unit))], shape);
        }
    }

    __aicore__ inline void write_pieces(GM_ADDR address, const LocalTensor<Raw<To>>& from,
                                        uint32_t pieces, uint32_t count, int64_t step,
                                        uint32_t from_pitch) {
        if (target_is_odd_) {
            write_units<uint8_t>(address, from, pieces, count, step, from_pitch);
        } else {
            write_units<Raw<To>>(address, from, pieces, count, step, from_pitch);
        }
    }

    __aicore__ inline void write(GM_ADDR to, const LocalTensor<Raw<To>>& result) {
        if (t_.write == STRIDED_COPY_ROWS)
            return write_pieces(to, result, rows_, columns_, t_.target_stride[6], pitch_);
        const uint32_t row_blocks = round_up(columns_, 8);
        for (uint32_t row = 0; row < rows_; ++row, to = to + t_.target_stride[6])
            write_pieces(to, result[row * row_blocks * kBlock<To>], columns_, 1,
                         t_.target_stride[7], kBlock<To>);
    }

    GM_ADDR source_;
    GM_ADDR target_;
    const StridedCopyTiling& t_;
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    TBuf<TPosition::VECCALC> packed_, converted_, wide_, offsets_;
    bool source_is_odd_, target_is_odd_;
    int32_t step_ = 0;  // bytes between elements in what was read, however they are ordered
    uint32_t offset_columns_ = 0;
    uint32_t rows_ = 0, columns_ = 0, pitch_ = 0;
};

}  // namespace kernels
