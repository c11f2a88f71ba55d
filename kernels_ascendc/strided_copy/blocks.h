// Strided copy on products without DataCopyPad: tiles of the two innermost loops. What follows the
// last sixteen whole columns of a row is copied as the sixteen that end with it, so that whole
// blocks move.
#pragma once

#include "common/lanes.h"
#include "strided_copy/tile.h"

namespace kernels {

template <typename From, typename To>
class BlockCopy {
  public:
    __aicore__ inline BlockCopy(TPipe* pipe, GM_ADDR source, GM_ADDR target,
                                const StridedCopyTiling& tiling)
        : source_(source + tiling.source_begin),
          target_(target + tiling.target_begin),
          t_(tiling),
          transposes_(tiling.read == STRIDED_COPY_TRANSPOSED),
          height_(round_up(tiling.tile_rows, kLanes)) {
        const uint32_t tile =
            (transposes_ ? height_ : t_.tile_rows) * round_up(t_.tile_columns, kLanes);
        pipe->InitBuffer(in_, 2, tile * sizeof(From));
        pipe->InitBuffer(out_, 2, tile * sizeof(To));
        if (!transposes_) return;
        pipe->InitBuffer(packed_, tile * sizeof(From));
        pipe->InitBuffer(group_, height_ * kLanes * sizeof(From));
        Duplicate(group_.template Get<From>(), static_cast<From>(0.0f),
                  static_cast<int32_t>(height_ * kLanes));
        if (__CCE_AICORE__ == 100) pipe->InitBuffer(scratch_, height_ * kLanes * sizeof(float));
    }

    __aicore__ inline void run() {
        // Cores may share blocks of a target that begins off a block.
        const bool alone = reinterpret_cast<uint64_t>(target_) % kBlockBytes != 0;
        if (alone && GetBlockIdx() != 0) return;
        const int64_t begin = alone ? 0 : GetBlockIdx() * t_.items_per_block;
        const int64_t end = alone ? t_.items : least(begin + t_.items_per_block, t_.items);
        for (int64_t item = begin; item < end; ++item) copy_tile(item);
    }

  private:
    __aicore__ inline void copy_tile(int64_t item) {
        const StridedTile tile(t_, item);
        rows_ = tile.rows;
        whole_ = tile.columns / kLanes * kLanes;
        pitch_ = round_up(tile.columns, kLanes);

        LocalTensor<From> x = in_.template AllocTensor<From>();
        const int64_t last = t_.extent[7] - kLanes;
        if (whole_ > 0) read(x, 0, tile.source(tile.column), whole_);
        if (whole_ < pitch_) read(x, whole_, tile.source(last), kLanes);
        in_.EnQue(x);
        x = in_.template DeQue<From>();
        LocalTensor<To> result = out_.template AllocTensor<To>();
        convert(result, transposes_ ? transposed(x) : x);
        in_.FreeTensor(x);
        out_.EnQue(result);
        result = out_.template DeQue<To>();
        if (whole_ > 0) write(tile.target(tile.column), result, whole_);
        if (whole_ < pitch_) write(tile.target(last), result[whole_], kLanes);
        out_.FreeTensor(result);
    }

    // Columns of the tile from `first` on: rows of neighbours, or of all rows' elements each.
    __aicore__ inline void read(const LocalTensor<From>& to, uint32_t first, int64_t offset,
                                uint32_t columns) {
        if (transposes_) {
            read_pieces(to[first * height_], offset, columns, rows_, t_.source_stride[7], height_);
        } else {
            read_pieces(to[first], offset, rows_, columns, t_.source_stride[6], pitch_);
        }
    }

    // `step` bytes apart in memory, backwards as well.
    __aicore__ inline void read_pieces(const LocalTensor<From>& to, int64_t offset, uint32_t pieces,
                                       uint32_t count, int64_t step, uint32_t pitch) {
        GlobalTensor<From> from;
        from.SetGlobalBuffer((__gm__ From*)(source_ + offset));
        load_rows(to, from, pieces, count,
                  static_cast<uint64_t>(step / static_cast<int64_t>(sizeof(From))), pitch);
    }

    __aicore__ inline LocalTensor<From> transposed(const LocalTensor<From>& x) {
        const LocalTensor<From> packed = packed_.template Get<From>();
        const LocalTensor<From> group = group_.template Get<From>();
        constexpr uint32_t kLaneBlocks = kLanes / kBlock<From>;
        for (uint32_t column = 0; column < pitch_; column += kLanes) {
            if constexpr (sizeof(From) == sizeof(half)) {
                interleave_16bit(group, x[column * height_], round_up(rows_, kLanes), height_);
            } else {
                LocalTensor<float> scratch;
                if (__CCE_AICORE__ == 100) scratch = scratch_.template Get<float>();
                interleave(group, x[column * height_], round_up(rows_, kBlock<From>), height_,
                           scratch);
            }
            DataCopy(packed[column], group,
                     DataCopyParams(static_cast<uint16_t>(rows_), kLaneBlocks, 0,
                                    static_cast<uint16_t>((pitch_ - kLanes) / kBlock<From>)));
        }
        return packed;
    }

    __aicore__ inline void convert(const LocalTensor<To>& to, const LocalTensor<From>& from) {
        if constexpr (sizeof(From) == sizeof(To)) {
            DataCopy(to, from, rows_ * pitch_);
        } else {
            Cast(to, from, RoundMode::CAST_NONE, rows_ * pitch_);
        }
    }

    // Rows may meet in a block.
    __aicore__ inline void write(int64_t offset, const LocalTensor<To>& from, uint32_t columns) {
        const int64_t stride = t_.target_stride[6] / static_cast<int64_t>(sizeof(To));
        GlobalTensor<To> to;
        to.SetGlobalBuffer((__gm__ To*)(target_ + offset));
        order_stores();
        store_rows(to, from, rows_, columns, static_cast<uint64_t>(stride), pitch_, from);
    }

    GM_ADDR source_;
    GM_ADDR target_;
    const StridedCopyTiling& t_;
    const bool transposes_;
    const uint32_t height_;  // elements from column to column, before they are transposed
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    TBuf<TPosition::VECCALC> packed_, group_, scratch_;
    uint32_t rows_ = 0, whole_ = 0, pitch_ = 0;
};

}  // namespace kernels
