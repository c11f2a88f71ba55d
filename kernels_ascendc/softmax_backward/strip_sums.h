#pragma once

#include "softmax_backward/row_sums.h"
#include "softmax_backward/strip_chunks.h"
#include "softmax_backward/strip_exchange.h"

namespace kernels {

// The sums of a strip: they grow with chunks, then those of a team's blocks become one through the
// workspace. Where a strip's chunks stay in buffers, the next one's sums may grow before that.
class StripSums {
  public:
    __aicore__ StripSums(TPipe& pipe, GM_ADDR workspace, const SoftmaxBackwardTiling& tiling,
                         const StripChunks& chunks)
        : t_(tiling),
          inner_(static_cast<uint32_t>(tiling.inner)),
          period_(chunks.period()),
          is_row_(chunks.is_packed() && tiling.inner == 1),
          is_columns_(chunks.is_packed() && !is_row_),
          holds_(tiling.chunks <= tiling.input_buffers),
          slot_(
              round_up(tiling.pitch + (is_columns_ || is_row_ ? period_ : 0), kSoftmaxSlotFloats)),
          shared_(is_row_       ? kFloatsPerBlock
                  : is_columns_ ? round_up(inner_, kFloatsPerBlock)
                                : tiling.pitch),
          exchange_(pipe, workspace, tiling, shared_) {
        if (is_row_) {
            pipe.InitBuffer(sums_, kLanes * kLanes * sizeof(float));
            pipe.InitBuffer(scratch_, 2 * kLanes * kLanes * sizeof(float));
        } else if (is_columns_ && period_ != inner_) {
            const uint32_t rows = kLanes * round_up(period_, kLanes);
            pipe.InitBuffer(sums_, rows * sizeof(float));
            if (__CCE_AICORE__ == 100) pipe.InitBuffer(scratch_, rows * sizeof(float));
        }
        pipe.InitBuffer(levels_, (holds_ ? 2 : kLevels) * slot_ * sizeof(float));
    }

    // Chunks of the strip at hand or the next.
    __aicore__ uint64_t added() const { return added_; }
    __aicore__ const LocalTensor<float>& total() const { return total_; }

    // sums[(phase + i) modulo the pitch] += chunk[i], i < lanes, at most the pitch.
    __aicore__ void add(const LocalTensor<float>& chunk, uint32_t lanes, uint32_t phase) {
        const LocalTensor<float> sums = levels();
        if (added_ == 0)
            Duplicate(sums, 0.0f, static_cast<int32_t>((holds_ ? 1 : kLevels) * slot_));
        const uint32_t front = at_most(lanes, t_.pitch - phase);
        Add(sums[phase], sums[phase], chunk, static_cast<int32_t>(front));
        if (front < lanes) Add(sums, sums, chunk[front], static_cast<int32_t>(lanes - front));
        ++added_;
        if (!holds_) carry(sums);
    }

    // After the last chunk of the block's part. A team's sums are on their way then.
    __aicore__ void begin_total() {
        partial_ = levels();
        for (uint32_t k = 1; !holds_ && k < kLevels; ++k) {
            Add(partial_, partial_, partial_[k * slot_], static_cast<int32_t>(slot_));
        }
        if (holds_) turn_ = 1 - turn_;
        added_ = 0;
        if (is_row_) fold_rows(partial_, 1, t_.pitch, kFloatsPerBlock, 0);
        if (is_columns_) sum_columns();
        if (t_.parts > 1) exchange_.send(partial_);
    }

    // total() = the sums, for a chunk that begins anywhere in the period; of a row, in a block.
    __aicore__ void end_total() {
        if (t_.parts > 1) exchange_.receive(partial_);
        total_ = partial_;
        if (is_columns_) spread_columns();
        if (!is_row_) return;
        total_ = sums_.Get<float>();
        sum_rows(total_, partial_, 0, 1, kFloatsPerBlock, kFloatsPerBlock, scratch_.Get<float>());
    }

    // Of a team's sums: their steps between begin_total() and end_total().
    __aicore__ StripExchange& exchange() { return exchange_; }

  private:
    // Sums of chunks, of 64 chunks, of 4096 chunks: no long chain of additions.
    static constexpr uint32_t kLevels = 3;
    static constexpr uint32_t kChunksPerLevel = 64;

    // Where sums grow: in levels, or in turns with those in use.
    __aicore__ LocalTensor<float> levels() {
        return levels_.Get<float>()[static_cast<uint32_t>(turn_) * slot_];
    }

    // Level k is added to the next and starts again after 64 additions.
    __aicore__ void carry(const LocalTensor<float>& levels) {
        uint64_t added = added_;
        for (uint32_t k = 0; k + 1 < kLevels && added % kChunksPerLevel == 0; ++k) {
            const auto count = static_cast<int32_t>(slot_);
            Add(levels[(k + 1) * slot_], levels[(k + 1) * slot_], levels[k * slot_], count);
            Duplicate(levels[k * slot_], 0.0f, count);
            added /= kChunksPerLevel;
        }
    }

    // The sums of columns: as rows of sixteen lanes where columns do not begin at blocks, and for a
    // team as they are as well.
    __aicore__ void sum_columns() {
        fold_rows(partial_, 1, t_.pitch, period_, 0);
        if (period_ == inner_) return;
        const LocalTensor<float> rows = sums_.Get<float>();
#if __CCE_AICORE__ == 100
        Duplicate(rows, 0.0f, static_cast<int32_t>(round_up(period_, kLanes) * kLanes));
#endif
        interleave(rows, partial_, period_, 0, scratch());
        fold_rows(rows, 1, period_ * kLanes, inner_ * kLanes, 0);
        if (t_.parts == 1) return;
        repeat(rows, inner_ * kLanes, round_up(inner_, kLanes) * kLanes);
        deinterleave(partial_, rows, round_up(inner_, kLanes), 0, scratch());
    }

    // The sums of columns, over and over.
    __aicore__ void spread_columns() {
        if (period_ != inner_) {
            const uint32_t all = round_up(period_, kLanes);
            const LocalTensor<float> rows = sums_.Get<float>();
            if (t_.parts > 1) interleave(rows, total_, shared_, 0, scratch());
            repeat(rows, inner_ * kLanes, all * kLanes);
            deinterleave(total_, rows, all, 0, scratch());
        }
        repeat(total_, period_, t_.pitch + period_);
    }

    __aicore__ LocalTensor<float> scratch() {
#if __CCE_AICORE__ == 100
        return scratch_.Get<float>();
#else
        return {};
#endif
    }

    // data[i] = data[i modulo done], i < count.
    __aicore__ void repeat(const LocalTensor<float>& data, uint32_t done, uint32_t count) {
        for (; done < count; done *= 2) {
            Adds(data[done], data, 0.0f, static_cast<int32_t>(at_most(count - done, done)));
        }
    }

    const SoftmaxBackwardTiling t_;
    const uint32_t inner_, period_;
    const bool is_row_, is_columns_;  // packed: one column, several
    const bool holds_;                // chunks stay in buffers
    const uint32_t slot_;             // floats of a level
    const uint32_t shared_;           // floats that a team exchanges
    uint64_t added_ = 0;
    uint64_t turn_ = 0;  // of the two places of sums
    LocalTensor<float> partial_, total_;
    StripExchange exchange_;
    TBuf<TPosition::VECCALC> levels_, sums_, scratch_;
};

}  // namespace kernels
