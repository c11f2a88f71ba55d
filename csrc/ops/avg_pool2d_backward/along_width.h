#pragma once

#include "ops/avg_pool2d_backward/sliding_rows.h"
#include "ops/avg_pool2d_backward/write_rows.h"

namespace ascend_grad {
namespace {

// One plane at a time, several rows of grad_input at once: first the quotients that they need, then
// their sums over rows, then those over columns, so that no load waits for a store just made.
template <class T>
class PoolAlongWidth : public SlidingRows<T> {
    using Op = AvgPool2dBackward;
    using Base = SlidingRows<T>;
    using Base::column_;
    using Base::columns_;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::groups_;
    using Base::kMaxPitch;
    using Base::kSlots;
    using Base::kSumRows;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::lowest_;
    using Base::pitch_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::row;
    using Base::streaming_;

  public:
    using Base::Base;

    void run() {
        prepare();
        Sink<T> sink(streaming_, address_of_row(first_plane_, first_row_));
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            this->start_plane(grad_ + plane_offset(plane, 0));
            char* to = address_of_row(plane, first_row_);
            if (slides_) {
                slide_down(to, sink);
                continue;
            }
            for (int64_t r = first_row_; r < last_row_; r = chunks_end_) {
                if (r != chunks_begin_) select_chunks(r);
                for (int c = 0; c < chunk_count_; ++c) {
                    const Chunk& chunk = chunks_[c];
                    this->make_rows(chunk.first, chunk.last);
                    for (int s = chunk.sums_begin; s < chunk.sums_end; ++s)
                        add_rows(list_of_sums_[s]);
                    write(to, chunk, sink);
                    to += chunk.rows * plan_.height_stride[1];
                }
            }
        }
    }

  private:
    static constexpr int kMaxBands = 320, kMaxChunks = 24, kMaxSums = 160;
    static constexpr int kChunkBands = 36;

    // Rows of grad_input that are made together, out of new rows [first, last] of quotients.
    struct Chunk {
        int64_t first, last;
        int bands_begin, bands_end, sums_begin, sums_end;
        int rows;
        int64_t left;  // rows that the tile has from here on
    };
    struct Sum {
        int64_t first;
        int count;
        float* to;
    };

    char* address_of_row(int64_t plane, int64_t r) const {
        return grad_input_ + plane_offset(plane, 1) + r * plan_.height_stride[1] +
               column_ * plan_.width_stride[1];
    }
    void prepare() {
        if (first_row_ != tile_row_) chunks_begin_ = -1;
        tile_row_ = first_row_;
        // Of other rows only what is made anew differs: margins stay zero, columns are the same.
        if (column_ == tile_column_) return;
        tile_column_ = column_;
        chunks_begin_ = -1;
        this->select_columns();
        const auto size = static_cast<int64_t>(sizeof(T));
        overlap_ = static_cast<int>(pool_scratch::overlap(plan_.width));
        shape_ = {columns_, overlap_,
                  static_cast<int>(plan_.width.stride == 2 ? plan_.width.kernel / 2 : 0)};
        phase_ = column_ + plan_.width.pad - lowest_ * plan_.width.stride;
        const bool rounds = plan_.dtype == DataType::kFloat32 && plan_.mode == Op::Mode::kFloat16;
        writer_ = plan_.width_stride[1] == size && !rounds
                      ? pool_writer<T>(plan_.width.stride, plan_.width.kernel, phase_, columns_)
                      : nullptr;
        are_packed_ = plan_.height_stride[1] == columns_ * size;
        fused_rows_ = writer_ != nullptr && overlap_ <= 2 ? 2 : 1;
        // So many that the ring holds their windows and the sink their elements.
        const int64_t overlap = pool_scratch::overlap(plan_.height);
        slides_ = Base::can_slide(plan_);
        rows_at_once_ = 1024;
        if (!slides_) {
            const int64_t windows = greatest(0, kSlots - 1 - overlap);
            rows_at_once_ = least(rows_at_once_, windows * plan_.height.stride + 1);
        }
        if (streaming_) {
            const int64_t fitting = (Sink<T>::kReserve - 2 * kPairLanes) / columns_;
            rows_at_once_ = greatest(1, least(rows_at_once_, fitting));
        }
        constexpr int64_t kNearFloats = 2048;  // of sums over rows (measured)
        rows_summed_ = greatest(3, least(kSumRows, kNearFloats / pitch_));
        const int sums = slides_ || overlap > fused_rows_ ? kSumRows : 0;
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>((sums + 1) * pitch_));
        for (int b = 0; slides_ && b < kSumRows; ++b)
            bands_[b] = {sums_ + (b + 1) * pitch_ + kLanes, nullptr, 1};
    }

    // The tile's rows of a plane whose windows are one row apart.
    void slide_down(char* to, Sink<T>& sink) {
        this->start_sliding(first_row_);
        for (int64_t r = first_row_; r < last_row_;) {
            const int rows = static_cast<int>(least(rows_summed_, last_row_ - r));
            this->slide(r, rows, sums_ + pitch_);
            Chunk chunk{};
            for (const int64_t end = r + rows; r < end; r += chunk.rows) {
                chunk.rows = static_cast<int>(least(rows_at_once_, end - r));
                chunk.bands_begin = chunk.bands_end;
                chunk.bands_end += chunk.rows;
                chunk.left = last_row_ - r;
                write(to, chunk, sink);
                to += chunk.rows * plan_.height_stride[1];
            }
        }
    }

    // The chunks from row r on, as many as there is space for: usually all of the tile's, which are
    // the same in every plane.
    void select_chunks(int64_t r) {
        RowWindows windows(plan_.height, r);
        int64_t next =
            r == first_row_ ? windows.covering().first : covering(plan_.height, r - 1).last + 1;
        int bands = 0, sums = 0;
        chunks_begin_ = r;
        for (chunk_count_ = 0; r < last_row_ && chunk_count_ < kMaxChunks; ++chunk_count_) {
            if (bands + kChunkBands > kMaxBands || sums + kSumRows > kMaxSums) break;
            Chunk& chunk = chunks_[chunk_count_];
            chunk = {next, next - 1, bands, bands, sums, sums, 0, last_row_ - r};
            const int64_t limit = least(rows_at_once_, last_row_ - r);
            while (chunk.rows < limit && bands < chunk.bands_begin + kChunkBands &&
                   sums < chunk.sums_begin + kSumRows) {
                const int rows = static_cast<int>(windows.count(limit - chunk.rows));
                const Covering& covering = windows.covering();
                const int64_t n = covering.last - covering.first + 1;
                bands_[bands] = {n > 0 ? row(covering.first) : sums_ + kLanes, nullptr, rows};
                if (n > fused_rows_) {
                    float* sum = sums_ + (sums - chunk.sums_begin + 1) * pitch_;
                    bands_[bands].first = sum + kLanes;
                    list_of_sums_[sums++] = {covering.first, static_cast<int>(n), sum};
                } else if (n == 2) {
                    bands_[bands].second = row(covering.first + 1);
                }
                ++bands;
                chunk.last = covering.last;
                chunk.rows += rows;
                windows.advance(rows);
            }
            chunk.bands_end = bands;
            chunk.sums_end = sums;
            next = chunk.last + 1;
            r += chunk.rows;
        }
        chunks_end_ = r;
    }

    void add_rows(const Sum& sum) const {
        const float* from[kSlots];
        for (int k = 0; k < sum.count; ++k) from[k] = row(sum.first + k) - kLanes;
        sum_rows(sum.to, from, sum.count, kLanes + groups_);
    }

    void write(char* to, const Chunk& chunk, Sink<T>& sink) {
        if (writer_ != nullptr && are_packed_) {
            return write_packed(to, chunk.bands_begin, chunk.bands_end, chunk.rows, chunk.left,
                                sink);
        }
        for (int b = chunk.bands_begin; b < chunk.bands_end; ++b) {
            PoolBand& band = bands_[b];
            const int rows = band.rows;
            band.rows = 1;
            if (writer_ == nullptr) add_columns(band.first);
            for (int i = 0; i < rows; ++i, to += plan_.height_stride[1]) {
                if (writer_ == nullptr) {
                    this->write_line(line_, to, sink);
                } else {
                    write_packed(to, b, b + 1, 1, 1, sink);
                }
            }
            band.rows = rows;
        }
    }
    // `left` rows, these included, are still to be written one behind the other.
    void write_packed(char* to, int begin, int end, int rows, int64_t left, Sink<T>& sink) {
        sink.move_to(to);
        const int elements = rows * columns_;
        T* out = sink.reserve(elements + kPairLanes);
        const T* limit = out + (streaming_ ? elements + kPairLanes : left * columns_);
        writer_(bands_ + begin, end - begin, out, limit, shape_);
        sink.commit(elements);
    }

    // line_ by windows of any stride.
    void add_columns(const float* own) {
        if (plan_.width.kernel == plan_.width.stride) {
            repeat(own);
        } else {
            add_by_phase(own);
        }
    }
    // Windows that neither overlap nor leave gaps.
    void repeat(const float* own) {
        int64_t start = -phase_;
        for (int u = 0; u < groups_; ++u, start += plan_.width.stride) {
            const Lanes value = splat(own[u]);
            const int from = static_cast<int>(greatest(start, 0));
            const int to = static_cast<int>(least(start + plan_.width.stride, columns_));
            for (int c = from; c < to; c += kLanes) store_raw(line_ + c, value);
        }
    }
    void add_by_phase(const float* own) {
        int64_t phase = phase_;
        for (int c = 0; c < columns_; ++c) {
            float sum = 0.0f;
            for (int t = windows_at(phase) - 1; t >= 0; --t) sum = sum + own[-t];
            line_[c] = sum;
            if (++phase == plan_.width.stride) {
                phase = 0;
                ++own;
            }
        }
    }
    int windows_at(int64_t phase) const {
        if (phase >= plan_.width.kernel) return 0;
        return overlap_ == 1
                   ? 1
                   : static_cast<int>((plan_.width.kernel - 1 - phase) / plan_.width.stride) + 1;
    }

    int64_t phase_ = 0, rows_at_once_ = 1, rows_summed_ = 1;
    int64_t tile_column_ = -1, tile_row_ = -1, chunks_begin_ = -1, chunks_end_ = -1;
    int overlap_ = 0, fused_rows_ = 1, chunk_count_ = 0;
    bool are_packed_ = false, slides_ = false;
    PoolWriter<T> writer_ = nullptr;
    PoolRowShape shape_{};
    Chunk chunks_[kMaxChunks];
    PoolBand bands_[kMaxBands];
    Sum list_of_sums_[kMaxSums];
    alignas(64) float sums_[(kSumRows + 1) * kMaxPitch];
    alignas(64) float line_[pool_scratch::kMaxColumns + 4 * kLanes];
};

}  // namespace
}  // namespace ascend_grad
